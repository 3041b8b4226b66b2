declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
@table_days = private unnamed_addr constant [48 x i8] c"\1F\00\00\00\1C\00\00\00\1F\00\00\00\1E\00\00\00\1F\00\00\00\1E\00\00\00\1F\00\00\00\1F\00\00\00\1E\00\00\00\1F\00\00\00\1E\00\00\00\1F\00\00\00", align 16
@table_halves = private unnamed_addr constant [6 x i8] c"\00\3C\00\40\00\42", align 16
@table_pairs = private unnamed_addr constant [16 x i8] c"\01\00\00\00\02\00\00\00\03\00\00\00\04\00\00\00", align 16

define internal void @invocations_guarded(ptr noalias %b_out, i32 %len_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %len_out.wide = zext i32 %len_out to i64
  %any = icmp ult i64 %first, %last
  br i1 %any, label %invocation, label %done
invocation:
  %id = phi i64 [ %first, %entry ], [ %id.next, %following ]
  %invocation_x = trunc i64 %id to i32
  %ok = icmp ult i64 %id, %len_out.wide
  %t = urem i32 %invocation_x, 12
  %at = zext i32 %t to i64
  %p = getelementptr inbounds i32, ptr @table_days, i64 %at
  %t.1 = load i32, ptr %p, align 4
  %ok.1 = icmp ult i64 %id, 12
  br i1 %ok.1, label %inside.1, label %after.1
inside.1:
  %p.1 = getelementptr inbounds i32, ptr @table_days, i64 %id
  %t.2 = load i32, ptr %p.1, align 4
  br label %after.1
after.1:
  %t.3 = phi i32 [ %t.2, %inside.1 ], [ 0, %invocation ]
  %t.4 = add i32 %t.1, %t.3
  %t.5 = xor i32 %invocation_x, %nought
  %t.6 = and i32 %t.5, 1
  %at.1 = zext i32 %t.6 to i64
  %p.2 = getelementptr inbounds [2 x i32], ptr @table_pairs, i64 %at.1, i64 0
  %t.7 = load i32, ptr %p.2, align 4
  %p.3 = getelementptr inbounds [2 x i32], ptr @table_pairs, i64 %at.1, i64 1
  %t.8 = load i32, ptr %p.3, align 4
  %t.9 = add i32 %t.4, %t.8
  %ok.2 = icmp ult i64 %id, 3
  br i1 %ok.2, label %inside.3, label %after.3
inside.3:
  %p.4 = getelementptr inbounds i16, ptr @table_halves, i64 %id
  %h = load i16, ptr %p.4, align 2
  %t.10 = zext i16 %h to i32
  br label %after.3
after.3:
  %t.11 = phi i32 [ %t.10, %inside.3 ], [ 0, %after.1 ]
  %t.12 = add i32 %t.9, %t.11
  br i1 %ok, label %inside.4, label %after.4
inside.4:
  %p.5 = getelementptr inbounds i32, ptr %b_out, i64 %id
  store i32 %t.12, ptr %p.5, align 4
  br label %after.4
after.4:
  br label %following
following:
  %id.next = add nuw i64 %id, 1
  %more = icmp ult i64 %id.next, %last
  br i1 %more, label %invocation, label %done, !llvm.loop !0
done:
  ret void
}

define internal void @invocations_in_range(ptr noalias %b_out, i32 %len_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %nought = call i32 asm "", "=r,0"(i32 0) nounwind memory(none)
  %len_out.wide = zext i32 %len_out to i64
  %any = icmp ult i64 %first, %last
  br i1 %any, label %invocation, label %done
invocation:
  %id = phi i64 [ %first, %entry ], [ %id.next, %following ]
  %invocation_x = trunc i64 %id to i32
  %t = urem i32 %invocation_x, 12
  %at = zext i32 %t to i64
  %p = getelementptr inbounds i32, ptr @table_days, i64 %at
  %t.1 = load i32, ptr %p, align 4
  %ok = icmp ult i64 %id, 12
  br i1 %ok, label %inside.1, label %after.1
inside.1:
  %p.1 = getelementptr inbounds i32, ptr @table_days, i64 %id
  %t.2 = load i32, ptr %p.1, align 4
  br label %after.1
after.1:
  %t.3 = phi i32 [ %t.2, %inside.1 ], [ 0, %invocation ]
  %t.4 = add i32 %t.1, %t.3
  %t.5 = xor i32 %invocation_x, %nought
  %t.6 = and i32 %t.5, 1
  %at.1 = zext i32 %t.6 to i64
  %p.2 = getelementptr inbounds [2 x i32], ptr @table_pairs, i64 %at.1, i64 0
  %t.7 = load i32, ptr %p.2, align 4
  %p.3 = getelementptr inbounds [2 x i32], ptr @table_pairs, i64 %at.1, i64 1
  %t.8 = load i32, ptr %p.3, align 4
  %t.9 = add i32 %t.4, %t.8
  %ok.1 = icmp ult i64 %id, 3
  br i1 %ok.1, label %inside.3, label %after.3
inside.3:
  %p.4 = getelementptr inbounds i16, ptr @table_halves, i64 %id
  %h = load i16, ptr %p.4, align 2
  %t.10 = zext i16 %h to i32
  br label %after.3
after.3:
  %t.11 = phi i32 [ %t.10, %inside.3 ], [ 0, %after.1 ]
  %t.12 = add i32 %t.9, %t.11
  %p.5 = getelementptr inbounds i32, ptr %b_out, i64 %id
  store i32 %t.12, ptr %p.5, align 4
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
  %room = sub i64 %len_out.wide, 0
  %room.1 = add i64 %room, 0
  %end = sdiv i64 %room.1, 1
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
  %first_invocation = mul i64 %x, 64
  %last_invocation = mul i64 %end.2, 64
  %raised = call i64 @llvm.umax.i64(i64 %high, i64 %first_invocation)
  %cut = call i64 @llvm.umin.i64(i64 %raised, i64 %last_invocation)
  call void @invocations_in_range(ptr %b_out, i32 %len_out, i64 %first_invocation, i64 %cut, i32 %workgroup_y, i32 %workgroup_z)
  call void @invocations_guarded(ptr %b_out, i32 %len_out, i64 %cut, i64 %last_invocation, i32 %workgroup_y, i32 %workgroup_z)
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
