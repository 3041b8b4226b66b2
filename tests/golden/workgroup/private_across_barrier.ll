declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @workgroups_guarded(ptr noalias %b_out, i32 %len_out, ptr noalias %b_tile, ptr noalias %b_own, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %len_out.wide = zext i32 %len_out to i64
  %any = icmp ult i64 %first, %last
  br i1 %any, label %workgroup, label %done
workgroup:
  %group = phi i64 [ %first, %entry ], [ %group.next, %following ]
  %workgroup_x = trunc i64 %group to i32
  call void @llvm.memset.p0.i64(ptr align 4 %b_tile, i8 0, i64 256, i1 false)
  call void @llvm.memset.p0.i64(ptr align 4 %b_own, i8 0, i64 1024, i1 false)
  br label %local_x
local_x:
  %at_x = phi i64 [ 0, %workgroup ], [ %at_x.next, %latch ]
  %local_x.1 = trunc i64 %at_x to i32
  %t = mul i32 %workgroup_x, 64
  %invocation_x = add i32 %t, %local_x.1
  %w = mul i64 %group, 64
  %id.1 = add i64 %w, %at_x
  %w.1 = mul i64 %at_x, 4
  %own = getelementptr inbounds i8, ptr %b_own, i64 %w.1
  %t.1 = xor i32 %local_x.1, %nought
  %t.2 = and i32 %t.1, 3
  %at = zext i32 %t.2 to i64
  %at.1 = mul i64 %at, 64
  %p = getelementptr inbounds i32, ptr %own, i64 %at.1
  store i32 %invocation_x, ptr %p, align 4
  %at.2 = mul i64 0, 64
  %p.1 = getelementptr inbounds i32, ptr %own, i64 %at.2
  %t.3 = load i32, ptr %p.1, align 4
  %p.2 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x
  store i32 %t.3, ptr %p.2, align 4
  br label %latch
latch:
  %at_x.next = add nuw i64 %at_x, 1
  %more = icmp ult i64 %at_x.next, 64
  br i1 %more, label %local_x, label %endregion, !llvm.loop !0
endregion:
  br label %local_x.2
local_x.2:
  %at_x.1 = phi i64 [ 0, %endregion ], [ %at_x.1.next, %latch.1 ]
  %local_x.3 = trunc i64 %at_x.1 to i32
  %t.4 = mul i32 %workgroup_x, 64
  %invocation_x.1 = add i32 %t.4, %local_x.3
  %w.2 = mul i64 %group, 64
  %id.2 = add i64 %w.2, %at_x.1
  %w.3 = mul i64 %at_x.1, 4
  %own.1 = getelementptr inbounds i8, ptr %b_own, i64 %w.3
  %ok = icmp ult i64 %id.2, %len_out.wide
  %at.3 = mul i64 1, 64
  %p.3 = getelementptr inbounds i32, ptr %own.1, i64 %at.3
  %t.5 = load i32, ptr %p.3, align 4
  %t.6 = sub i32 63, %local_x.3
  %at.4 = zext i32 %t.6 to i64
  %p.4 = getelementptr inbounds i32, ptr %b_tile, i64 %at.4
  %t.7 = load i32, ptr %p.4, align 4
  %t.8 = add i32 %t.5, %t.7
  br i1 %ok, label %inside.5, label %after.5
inside.5:
  %p.5 = getelementptr inbounds i32, ptr %b_out, i64 %id.2
  store i32 %t.8, ptr %p.5, align 4
  br label %after.5
after.5:
  br label %latch.1
latch.1:
  %at_x.1.next = add nuw i64 %at_x.1, 1
  %more.1 = icmp ult i64 %at_x.1.next, 64
  br i1 %more.1, label %local_x.2, label %endregion.1, !llvm.loop !0
endregion.1:
  br label %following
following:
  %group.next = add nuw i64 %group, 1
  %more.2 = icmp ult i64 %group.next, %last
  br i1 %more.2, label %workgroup, label %done
done:
  ret void
}

define internal void @workgroups_in_range(ptr noalias %b_out, i32 %len_out, ptr noalias %b_tile, ptr noalias %b_own, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %len_out.wide = zext i32 %len_out to i64
  %any = icmp ult i64 %first, %last
  br i1 %any, label %workgroup, label %done
workgroup:
  %group = phi i64 [ %first, %entry ], [ %group.next, %following ]
  %workgroup_x = trunc i64 %group to i32
  call void @llvm.memset.p0.i64(ptr align 4 %b_tile, i8 0, i64 256, i1 false)
  call void @llvm.memset.p0.i64(ptr align 4 %b_own, i8 0, i64 1024, i1 false)
  br label %local_x
local_x:
  %at_x = phi i64 [ 0, %workgroup ], [ %at_x.next, %latch ]
  %local_x.1 = trunc i64 %at_x to i32
  %t = mul i32 %workgroup_x, 64
  %invocation_x = add i32 %t, %local_x.1
  %w = mul i64 %group, 64
  %id.1 = add i64 %w, %at_x
  %w.1 = mul i64 %at_x, 4
  %own = getelementptr inbounds i8, ptr %b_own, i64 %w.1
  %t.1 = xor i32 %local_x.1, %nought
  %t.2 = and i32 %t.1, 3
  %at = zext i32 %t.2 to i64
  %at.1 = mul i64 %at, 64
  %p = getelementptr inbounds i32, ptr %own, i64 %at.1
  store i32 %invocation_x, ptr %p, align 4
  %at.2 = mul i64 0, 64
  %p.1 = getelementptr inbounds i32, ptr %own, i64 %at.2
  %t.3 = load i32, ptr %p.1, align 4
  %p.2 = getelementptr inbounds i32, ptr %b_tile, i64 %at_x
  store i32 %t.3, ptr %p.2, align 4
  br label %latch
latch:
  %at_x.next = add nuw i64 %at_x, 1
  %more = icmp ult i64 %at_x.next, 64
  br i1 %more, label %local_x, label %endregion
endregion:
  br label %local_x.2
local_x.2:
  %at_x.1 = phi i64 [ 0, %endregion ], [ %at_x.1.next, %latch.1 ]
  %local_x.3 = trunc i64 %at_x.1 to i32
  %t.4 = mul i32 %workgroup_x, 64
  %invocation_x.1 = add i32 %t.4, %local_x.3
  %w.2 = mul i64 %group, 64
  %id.2 = add i64 %w.2, %at_x.1
  %w.3 = mul i64 %at_x.1, 4
  %own.1 = getelementptr inbounds i8, ptr %b_own, i64 %w.3
  %at.3 = mul i64 1, 64
  %p.3 = getelementptr inbounds i32, ptr %own.1, i64 %at.3
  %t.5 = load i32, ptr %p.3, align 4
  %t.6 = sub i32 63, %local_x.3
  %at.4 = zext i32 %t.6 to i64
  %p.4 = getelementptr inbounds i32, ptr %b_tile, i64 %at.4
  %t.7 = load i32, ptr %p.4, align 4
  %t.8 = add i32 %t.5, %t.7
  %p.5 = getelementptr inbounds i32, ptr %b_out, i64 %id.2
  store i32 %t.8, ptr %p.5, align 4
  br label %latch.1
latch.1:
  %at_x.1.next = add nuw i64 %at_x.1, 1
  %more.1 = icmp ult i64 %at_x.1.next, 64
  br i1 %more.1, label %local_x.2, label %endregion.1
endregion.1:
  br label %following
following:
  %group.next = add nuw i64 %group, 1
  %more.2 = icmp ult i64 %group.next, %last
  br i1 %more.2, label %workgroup, label %done
done:
  ret void
}

define void @vyre_main(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch) #0 {
entry:
  %p = getelementptr inbounds ptr, ptr %buffers, i64 0
  %b_out = load ptr, ptr %p, align 8
  %p.1 = getelementptr inbounds i32, ptr %hidden, i64 0
  %grid_x = load i32, ptr %p.1, align 4
  %grid_x.wide = zext i32 %grid_x to i64
  %p.2 = getelementptr inbounds i32, ptr %hidden, i64 1
  %grid_y = load i32, ptr %p.2, align 4
  %grid_y.wide = zext i32 %grid_y to i64
  %p.3 = getelementptr inbounds i32, ptr %hidden, i64 2
  %grid_z = load i32, ptr %p.3, align 4
  %grid_z.wide = zext i32 %grid_z to i64
  %p.4 = getelementptr inbounds i32, ptr %hidden, i64 3
  %len_out = load i32, ptr %p.4, align 4
  %len_out.wide = zext i32 %len_out to i64
  %b_tile = getelementptr inbounds i8, ptr %scratch, i64 0
  %b_own = getelementptr inbounds i8, ptr %scratch, i64 256
  %room = sub i64 %len_out.wide, 63
  %room.1 = add i64 %room, 63
  %end = sdiv i64 %room.1, 64
  %c = icmp sgt i64 %room, 0
  %end.1 = select i1 %c, i64 %end, i64 0
  %high = call i64 @llvm.umin.i64(i64 4611686018427387903, i64 %end.1)
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
  %room.2 = sub i64 %grid_x.wide, %x
  %count = call i64 @llvm.umin.i64(i64 %left, i64 %room.2)
  %end.2 = add i64 %x, %count
  %raised = call i64 @llvm.umax.i64(i64 %high, i64 %x)
  %cut = call i64 @llvm.umin.i64(i64 %raised, i64 %end.2)
  call void @workgroups_in_range(ptr %b_out, i32 %len_out, ptr %b_tile, ptr %b_own, i64 %x, i64 %cut, i32 %workgroup_y, i32 %workgroup_z)
  call void @workgroups_guarded(ptr %b_out, i32 %len_out, ptr %b_tile, ptr %b_own, i64 %cut, i64 %end.2, i32 %workgroup_y, i32 %workgroup_z)
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
