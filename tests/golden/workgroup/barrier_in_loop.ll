declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @workgroups_guarded(ptr noalias readonly %b_a, ptr noalias %b_out, ptr noalias %b_tile, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %any = icmp ult i64 %first, %last
  br i1 %any, label %workgroup, label %done
workgroup:
  %group = phi i64 [ %first, %entry ], [ %group.next, %following ]
  %workgroup_x = trunc i64 %group to i32
  call void @llvm.memset.p0.i64(ptr align 4 %b_tile, i8 0, i64 256, i1 false)
  br label %local_x
local_x:
  %at_x = phi i64 [ 0, %workgroup ], [ %at_x.next, %latch ]
  %local_x.1 = trunc i64 %at_x to i32
  %t = mul i32 %workgroup_x, 64
  %invocation_x = add i32 %t, %local_x.1
  %w = mul i64 %group, 64
  %id.1 = add i64 %w, %at_x
  %ok = icmp ult i64 %id.1, 128
  br i1 %ok, label %inside, label %after
inside:
  %p = getelementptr inbounds i32, ptr %b_a, i64 %id.1
  %t.1 = load i32, ptr %p, align 4
  br label %after
after:
  %t.2 = phi i32 [ %t.1, %inside ], [ 0, %local_x ]
  %p.1 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x
  store i32 %t.2, ptr %p.1, align 4
  br label %latch
latch:
  %at_x.next = add nuw i64 %at_x, 1
  %more = icmp ult i64 %at_x.next, 64
  br i1 %more, label %local_x, label %endregion, !llvm.loop !0
endregion:
  %c = icmp ult i32 0, 6
  br i1 %c, label %loop, label %endloop
loop:
  %v_step = phi i32 [ 0, %endregion ], [ %next_step, %latch.1 ]
  %t.3 = xor i32 %v_step, %nought
  %t.4 = and i32 %t.3, 31
  %v_half = lshr i32 32, %t.4
  %w.1 = zext i32 %v_half to i64
  %w.2 = call i64 @llvm.umin.i64(i64 %w.1, i64 64)
  %c.1 = icmp ne i64 %w.2, 0
  br i1 %c.1, label %region, label %endregion.1
region:
  br label %local_x.2
local_x.2:
  %at_x.1 = phi i64 [ 0, %region ], [ %at_x.1.next, %latch.2 ]
  %local_x.3 = trunc i64 %at_x.1 to i32
  %t.5 = mul i32 %workgroup_x, 64
  %invocation_x.1 = add i32 %t.5, %local_x.3
  %w.3 = mul i64 %group, 64
  %id.2 = add i64 %w.3, %at_x.1
  %p.2 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x.1
  %t.6 = load i32, ptr %p.2, align 4
  %t.7 = add i32 %local_x.3, %v_half
  %at = zext i32 %t.7 to i64
  %p.3 = getelementptr inbounds i32, ptr %b_tile, i64 %at
  %t.8 = load i32, ptr %p.3, align 4
  %t.9 = add i32 %t.6, %t.8
  %p.4 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x.1
  store i32 %t.9, ptr %p.4, align 4
  br label %latch.2
latch.2:
  %at_x.1.next = add nuw i64 %at_x.1, 1
  %more.1 = icmp ult i64 %at_x.1.next, %w.2
  br i1 %more.1, label %local_x.2, label %endregion.1, !llvm.loop !0
endregion.1:
  br label %latch.1
latch.1:
  %next_step = add nuw i32 %v_step, 1
  %c.2 = icmp ult i32 %next_step, 6
  br i1 %c.2, label %loop, label %endloop
endloop:
  br label %local_x.4
local_x.4:
  %at_x.2 = phi i64 [ 0, %endloop ], [ %at_x.2.next, %latch.3 ]
  %local_x.5 = trunc i64 %at_x.2 to i32
  %t.10 = mul i32 %workgroup_x, 64
  %invocation_x.2 = add i32 %t.10, %local_x.5
  %w.4 = mul i64 %group, 64
  %id.3 = add i64 %w.4, %at_x.2
  %c.3 = icmp eq i32 %local_x.5, 0
  br i1 %c.3, label %then, label %endif
then:
  %ok.1 = icmp ult i32 %workgroup_x, 128
  %at.1 = zext i32 %workgroup_x to i64
  %p.5 = getelementptr inbounds i32, ptr %b_tile, i64 0
  %t.11 = load i32, ptr %p.5, align 4
  br i1 %ok.1, label %inside.6, label %after.6
inside.6:
  %p.6 = getelementptr inbounds i32, ptr %b_out, i64 %at.1
  store i32 %t.11, ptr %p.6, align 4
  br label %after.6
after.6:
  br label %endif
endif:
  br label %latch.3
latch.3:
  %at_x.2.next = add nuw i64 %at_x.2, 1
  %more.2 = icmp ult i64 %at_x.2.next, 64
  br i1 %more.2, label %local_x.4, label %endregion.2, !llvm.loop !0
endregion.2:
  br label %following
following:
  %group.next = add nuw i64 %group, 1
  %more.3 = icmp ult i64 %group.next, %last
  br i1 %more.3, label %workgroup, label %done
done:
  ret void
}

define internal void @workgroups_in_range(ptr noalias readonly %b_a, ptr noalias %b_out, ptr noalias %b_tile, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %any = icmp ult i64 %first, %last
  br i1 %any, label %workgroup, label %done
workgroup:
  %group = phi i64 [ %first, %entry ], [ %group.next, %following ]
  %workgroup_x = trunc i64 %group to i32
  call void @llvm.memset.p0.i64(ptr align 4 %b_tile, i8 0, i64 256, i1 false)
  br label %local_x
local_x:
  %at_x = phi i64 [ 0, %workgroup ], [ %at_x.next, %latch ]
  %local_x.1 = trunc i64 %at_x to i32
  %t = mul i32 %workgroup_x, 64
  %invocation_x = add i32 %t, %local_x.1
  %w = mul i64 %group, 64
  %id.1 = add i64 %w, %at_x
  %p = getelementptr inbounds i32, ptr %b_a, i64 %id.1
  %t.1 = load i32, ptr %p, align 4
  %p.1 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x
  store i32 %t.1, ptr %p.1, align 4
  br label %latch
latch:
  %at_x.next = add nuw i64 %at_x, 1
  %more = icmp ult i64 %at_x.next, 64
  br i1 %more, label %local_x, label %endregion
endregion:
  %c = icmp ult i32 0, 6
  br i1 %c, label %loop, label %endloop
loop:
  %v_step = phi i32 [ 0, %endregion ], [ %next_step, %latch.1 ]
  %t.2 = xor i32 %v_step, %nought
  %t.3 = and i32 %t.2, 31
  %v_half = lshr i32 32, %t.3
  %w.1 = zext i32 %v_half to i64
  %w.2 = call i64 @llvm.umin.i64(i64 %w.1, i64 64)
  %c.1 = icmp ne i64 %w.2, 0
  br i1 %c.1, label %region, label %endregion.1
region:
  br label %local_x.2
local_x.2:
  %at_x.1 = phi i64 [ 0, %region ], [ %at_x.1.next, %latch.2 ]
  %local_x.3 = trunc i64 %at_x.1 to i32
  %t.4 = mul i32 %workgroup_x, 64
  %invocation_x.1 = add i32 %t.4, %local_x.3
  %w.3 = mul i64 %group, 64
  %id.2 = add i64 %w.3, %at_x.1
  %p.2 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x.1
  %t.5 = load i32, ptr %p.2, align 4
  %t.6 = add i32 %local_x.3, %v_half
  %at = zext i32 %t.6 to i64
  %p.3 = getelementptr inbounds i32, ptr %b_tile, i64 %at
  %t.7 = load i32, ptr %p.3, align 4
  %t.8 = add i32 %t.5, %t.7
  %p.4 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x.1
  store i32 %t.8, ptr %p.4, align 4
  br label %latch.2
latch.2:
  %at_x.1.next = add nuw i64 %at_x.1, 1
  %more.1 = icmp ult i64 %at_x.1.next, %w.2
  br i1 %more.1, label %local_x.2, label %endregion.1
endregion.1:
  br label %latch.1
latch.1:
  %next_step = add nuw i32 %v_step, 1
  %c.2 = icmp ult i32 %next_step, 6
  br i1 %c.2, label %loop, label %endloop
endloop:
  br label %local_x.4
local_x.4:
  %at_x.2 = phi i64 [ 0, %endloop ], [ %at_x.2.next, %latch.3 ]
  %local_x.5 = trunc i64 %at_x.2 to i32
  %t.9 = mul i32 %workgroup_x, 64
  %invocation_x.2 = add i32 %t.9, %local_x.5
  %w.4 = mul i64 %group, 64
  %id.3 = add i64 %w.4, %at_x.2
  %c.3 = icmp eq i32 %local_x.5, 0
  br i1 %c.3, label %then, label %endif
then:
  %p.5 = getelementptr inbounds i32, ptr %b_tile, i64 0
  %t.10 = load i32, ptr %p.5, align 4
  %p.6 = getelementptr inbounds i32, ptr %b_out, i64 %group
  store i32 %t.10, ptr %p.6, align 4
  br label %endif
endif:
  br label %latch.3
latch.3:
  %at_x.2.next = add nuw i64 %at_x.2, 1
  %more.2 = icmp ult i64 %at_x.2.next, 64
  br i1 %more.2, label %local_x.4, label %endregion.2
endregion.2:
  br label %following
following:
  %group.next = add nuw i64 %group, 1
  %more.3 = icmp ult i64 %group.next, %last
  br i1 %more.3, label %workgroup, label %done
done:
  ret void
}

define void @vyre_main(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch) #0 {
entry:
  %p = getelementptr inbounds ptr, ptr %buffers, i64 0
  %b_a = load ptr, ptr %p, align 8
  %p.1 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %b_out = load ptr, ptr %p.1, align 8
  %p.2 = getelementptr inbounds i32, ptr %hidden, i64 0
  %grid_x = load i32, ptr %p.2, align 4
  %grid_x.wide = zext i32 %grid_x to i64
  %p.3 = getelementptr inbounds i32, ptr %hidden, i64 1
  %grid_y = load i32, ptr %p.3, align 4
  %grid_y.wide = zext i32 %grid_y to i64
  %p.4 = getelementptr inbounds i32, ptr %hidden, i64 2
  %grid_z = load i32, ptr %p.4, align 4
  %grid_z.wide = zext i32 %grid_z to i64
  %b_tile = getelementptr inbounds i8, ptr %scratch, i64 0
  %high = call i64 @llvm.umin.i64(i64 4611686018427387903, i64 2)
  %high.1 = call i64 @llvm.umin.i64(i64 %high, i64 128)
  %any = icmp ult i64 %start, %stop
  br i1 %any, label %row, label %done
row:
  %position = phi i64 [ %start, %entry ], [ %position.next, %row ]
  %row_number = udiv i64 %position, %grid_x.wide
  %x = urem i64 %position, %grid_x.wide
  %y = urem i64 %row_number, %grid_y.wide
  %z = udiv i64 %row_number, %grid_y.wide
  %workgroup_y = trunc i64 %y to i32
  %workgroup_z = trunc i64 %z to i32
  %left = sub i64 %stop, %position
  %room = sub i64 %grid_x.wide, %x
  %count = call i64 @llvm.umin.i64(i64 %left, i64 %room)
  %end = add i64 %x, %count
  %raised = call i64 @llvm.umax.i64(i64 %high.1, i64 %x)
  %cut = call i64 @llvm.umin.i64(i64 %raised, i64 %end)
  call void @workgroups_in_range(ptr %b_a, ptr %b_out, ptr %b_tile, i64 %x, i64 %cut, i32 %workgroup_y, i32 %workgroup_z)
  call void @workgroups_guarded(ptr %b_a, ptr %b_out, ptr %b_tile, i64 %cut, i64 %end, i32 %workgroup_y, i32 %workgroup_z)
  %position.next = add i64 %position, %count
  %more = icmp ult i64 %position.next, %stop
  br i1 %more, label %row, label %done
done:
  ret void
}

attributes #0 = { nounwind noinline optnone }
attributes #1 = { nounwind noinline }

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
!2 = !{!"llvm.loop.unroll.disable"}
