declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @invocations_guarded(ptr noalias readonly %b_a, ptr noalias %b_out, i32 %len_a, i32 %len_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %own = alloca [16 x i32], align 4
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %len_a.wide = zext i32 %len_a to i64
  %len_out.wide = zext i32 %len_out to i64
  %any = icmp ult i64 %first, %last
  br i1 %any, label %invocation, label %done
invocation:
  %id = phi i64 [ %first, %entry ], [ %id.next, %following ]
  %invocation_x = trunc i64 %id to i32
  call void @llvm.memset.p0.i64(ptr align 4 %own, i8 0, i64 64, i1 false)
  %c = icmp ult i32 0, 8
  br i1 %c, label %loop, label %endloop
loop:
  %v_k = phi i32 [ 0, %invocation ], [ %next_k, %latch ]
  %ok = icmp ult i64 %id, %len_a.wide
  br i1 %ok, label %inside, label %after
inside:
  %p = getelementptr inbounds i32, ptr %b_a, i64 %id
  %t = load i32, ptr %p, align 4
  br label %after
after:
  %t.1 = phi i32 [ %t, %inside ], [ 0, %loop ]
  %t.2 = shl i32 %v_k, 2
  %t.3 = xor i32 %t.2, %nought
  %t.4 = and i32 %t.3, 31
  %t.5 = lshr i32 %t.1, %t.4
  %v_digit = and i32 %t.5, 15
  %at = zext i32 %v_digit to i64
  %at.1 = zext i32 %v_digit to i64
  %p.1 = getelementptr inbounds i32, ptr %own, i64 %at.1
  %t.6 = load i32, ptr %p.1, align 4
  %t.7 = add i32 %t.6, 1
  %p.2 = getelementptr inbounds i32, ptr %own, i64 %at
  store i32 %t.7, ptr %p.2, align 4
  br label %latch
latch:
  %next_k = add nuw i32 %v_k, 1
  %c.1 = icmp ult i32 %next_k, 8
  br i1 %c.1, label %loop, label %endloop
endloop:
  %ok.1 = icmp ult i64 %id, %len_out.wide
  %ok.2 = icmp ult i64 %id, %len_out.wide
  br i1 %ok.2, label %inside.3, label %after.3
inside.3:
  %p.3 = getelementptr inbounds i32, ptr %b_out, i64 %id
  %t.8 = load i32, ptr %p.3, align 4
  br label %after.3
after.3:
  %t.9 = phi i32 [ %t.8, %inside.3 ], [ 0, %endloop ]
  %at.2 = freeze i32 %t.9
  %ok.3 = icmp ult i32 %at.2, 16
  %at.3 = zext i32 %at.2 to i64
  br i1 %ok.3, label %inside.4, label %after.4
inside.4:
  %p.4 = getelementptr inbounds i32, ptr %own, i64 %at.3
  %t.10 = load i32, ptr %p.4, align 4
  br label %after.4
after.4:
  %t.11 = phi i32 [ %t.10, %inside.4 ], [ 0, %after.3 ]
  br i1 %ok.1, label %inside.5, label %after.5
inside.5:
  %p.5 = getelementptr inbounds i32, ptr %b_out, i64 %id
  store i32 %t.11, ptr %p.5, align 4
  br label %after.5
after.5:
  br label %following
following:
  %id.next = add nuw i64 %id, 1
  %more = icmp ult i64 %id.next, %last
  br i1 %more, label %invocation, label %done, !llvm.loop !0
done:
  ret void
}

define internal void @invocations_in_range(ptr noalias readonly %b_a, ptr noalias %b_out, i32 %len_a, i32 %len_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %own = alloca [16 x i32], align 4
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %len_a.wide = zext i32 %len_a to i64
  %len_out.wide = zext i32 %len_out to i64
  %any = icmp ult i64 %first, %last
  br i1 %any, label %invocation, label %done
invocation:
  %id = phi i64 [ %first, %entry ], [ %id.next, %following ]
  %invocation_x = trunc i64 %id to i32
  call void @llvm.memset.p0.i64(ptr align 4 %own, i8 0, i64 64, i1 false)
  %c = icmp ult i32 0, 8
  br i1 %c, label %loop, label %endloop
loop:
  %v_k = phi i32 [ 0, %invocation ], [ %next_k, %latch ]
  %p = getelementptr inbounds i32, ptr %b_a, i64 %id
  %t = load i32, ptr %p, align 4
  %t.1 = shl i32 %v_k, 2
  %t.2 = xor i32 %t.1, %nought
  %t.3 = and i32 %t.2, 31
  %t.4 = lshr i32 %t, %t.3
  %v_digit = and i32 %t.4, 15
  %at = zext i32 %v_digit to i64
  %at.1 = zext i32 %v_digit to i64
  %p.1 = getelementptr inbounds i32, ptr %own, i64 %at.1
  %t.5 = load i32, ptr %p.1, align 4
  %t.6 = add i32 %t.5, 1
  %p.2 = getelementptr inbounds i32, ptr %own, i64 %at
  store i32 %t.6, ptr %p.2, align 4
  br label %latch
latch:
  %next_k = add nuw i32 %v_k, 1
  %c.1 = icmp ult i32 %next_k, 8
  br i1 %c.1, label %loop, label %endloop
endloop:
  %p.3 = getelementptr inbounds i32, ptr %b_out, i64 %id
  %t.7 = load i32, ptr %p.3, align 4
  %at.2 = freeze i32 %t.7
  %ok = icmp ult i32 %at.2, 16
  %at.3 = zext i32 %at.2 to i64
  br i1 %ok, label %inside.4, label %after.4
inside.4:
  %p.4 = getelementptr inbounds i32, ptr %own, i64 %at.3
  %t.8 = load i32, ptr %p.4, align 4
  br label %after.4
after.4:
  %t.9 = phi i32 [ %t.8, %inside.4 ], [ 0, %endloop ]
  %p.5 = getelementptr inbounds i32, ptr %b_out, i64 %id
  store i32 %t.9, ptr %p.5, align 4
  br label %following
following:
  %id.next = add nuw i64 %id, 1
  %more = icmp ult i64 %id.next, %last
  br i1 %more, label %invocation, label %done
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
  %p.5 = getelementptr inbounds i32, ptr %hidden, i64 3
  %len_a = load i32, ptr %p.5, align 4
  %len_a.wide = zext i32 %len_a to i64
  %p.6 = getelementptr inbounds i32, ptr %hidden, i64 4
  %len_out = load i32, ptr %p.6, align 4
  %len_out.wide = zext i32 %len_out to i64
  %room = sub i64 %len_a.wide, 0
  %room.1 = add i64 %room, 0
  %end = sdiv i64 %room.1, 1
  %c = icmp sgt i64 %room, 0
  %end.1 = select i1 %c, i64 %end, i64 0
  %high = call i64 @llvm.umin.i64(i64 4611686018427387903, i64 %end.1)
  %room.2 = sub i64 %len_out.wide, 0
  %room.3 = add i64 %room.2, 0
  %end.2 = sdiv i64 %room.3, 1
  %c.1 = icmp sgt i64 %room.2, 0
  %end.3 = select i1 %c.1, i64 %end.2, i64 0
  %high.1 = call i64 @llvm.umin.i64(i64 %high, i64 %end.3)
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
  %room.4 = sub i64 %grid_x.wide, %x
  %count = call i64 @llvm.umin.i64(i64 %left, i64 %room.4)
  %end.4 = add i64 %x, %count
  %first_invocation = mul i64 %x, 64
  %last_invocation = mul i64 %end.4, 64
  %raised = call i64 @llvm.umax.i64(i64 %high.1, i64 %first_invocation)
  %cut = call i64 @llvm.umin.i64(i64 %raised, i64 %last_invocation)
  call void @invocations_in_range(ptr %b_a, ptr %b_out, i32 %len_a, i32 %len_out, i64 %first_invocation, i64 %cut, i32 %workgroup_y, i32 %workgroup_z)
  call void @invocations_guarded(ptr %b_a, ptr %b_out, i32 %len_a, i32 %len_out, i64 %cut, i64 %last_invocation, i32 %workgroup_y, i32 %workgroup_z)
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
