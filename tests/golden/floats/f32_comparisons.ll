declare i64 @llvm.umin.i64(i64, i64)

define internal i32 @native_f32_eq(i32 %a, i32 %b) alwaysinline nounwind {
  %x = bitcast i32 %a to float
  %y = bitcast i32 %b to float
  %c = fcmp oeq float %x, %y
  %result = zext i1 %c to i32
  ret i32 %result
}
define internal i32 @native_f32_lt(i32 %a, i32 %b) alwaysinline nounwind {
  %x = bitcast i32 %a to float
  %y = bitcast i32 %b to float
  %c = fcmp olt float %x, %y
  %result = zext i1 %c to i32
  ret i32 %result
}
define internal i32 @native_f32_ne(i32 %a, i32 %b) alwaysinline nounwind {
  %x = bitcast i32 %a to float
  %y = bitcast i32 %b to float
  %c = fcmp une float %x, %y
  %result = zext i1 %c to i32
  ret i32 %result
}
define internal i32 @soft_f32_is_inf(i32 %p_a) alwaysinline nounwind {
entry:
  %t = and i32 %p_a, 2147483647
  %c = icmp eq i32 %t, 2139095040
  %t.1 = zext i1 %c to i32
  ret i32 %t.1
}

define internal i32 @soft_f32_is_nan(i32 %p_a) alwaysinline nounwind {
  %x = bitcast i32 %p_a to float
  %nan = fcmp uno float %x, 0.0
  %result = zext i1 %nan to i32
  ret i32 %result
}

define internal void @workgroups_guarded(ptr noalias readonly %b_a, ptr noalias readonly %b_b, ptr noalias %b_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %workgroup, label %done
workgroup:
  %group = phi i64 [ %first, %entry ], [ %group.next, %following ]
  %workgroup_x = trunc i64 %group to i32
  br label %local_x
local_x:
  %at_x = phi i64 [ 0, %workgroup ], [ %at_x.next, %latch ]
  %local_x.1 = trunc i64 %at_x to i32
  %w = mul i64 %group, 64
  %id.1 = add i64 %w, %at_x
  %p = getelementptr inbounds i32, ptr %b_a, i64 %at_x
  %t = load i32, ptr %p, align 4
  %p.1 = getelementptr inbounds i32, ptr %b_b, i64 %at_x
  %t.1 = load i32, ptr %p.1, align 4
  %t.2 = call i32 @native_f32_lt(i32 %t, i32 %t.1)
  %t.3 = call i32 @native_f32_eq(i32 %t, i32 %t.1)
  %t.4 = shl i32 %t.3, 1
  %t.5 = add i32 %t.2, %t.4
  %t.6 = call i32 @native_f32_ne(i32 %t, i32 %t.1)
  %t.7 = shl i32 %t.6, 2
  %t.8 = add i32 %t.5, %t.7
  %t.9 = call i32 @soft_f32_is_nan(i32 %t)
  %t.10 = shl i32 %t.9, 3
  %t.11 = add i32 %t.8, %t.10
  %t.12 = call i32 @soft_f32_is_inf(i32 %t.1)
  %t.13 = shl i32 %t.12, 4
  %t.14 = add i32 %t.11, %t.13
  %p.2 = getelementptr inbounds i32, ptr %b_out, i64 %at_x
  store i32 %t.14, ptr %p.2, align 4
  br label %latch
latch:
  %at_x.next = add nuw i64 %at_x, 1
  %more = icmp ult i64 %at_x.next, 64
  br i1 %more, label %local_x, label %endregion
endregion:
  br label %following
following:
  %group.next = add nuw i64 %group, 1
  %more.1 = icmp ult i64 %group.next, %last
  br i1 %more.1, label %workgroup, label %done
done:
  ret void
}

define void @vyre_main(ptr %buffers, ptr %hidden, i64 %start, i64 %stop, ptr %scratch) #0 {
entry:
  %p = getelementptr inbounds ptr, ptr %buffers, i64 0
  %b_a = load ptr, ptr %p, align 8
  %p.1 = getelementptr inbounds ptr, ptr %buffers, i64 1
  %b_b = load ptr, ptr %p.1, align 8
  %p.2 = getelementptr inbounds ptr, ptr %buffers, i64 2
  %b_out = load ptr, ptr %p.2, align 8
  %p.3 = getelementptr inbounds i32, ptr %hidden, i64 0
  %grid_x = load i32, ptr %p.3, align 4
  %grid_x.wide = zext i32 %grid_x to i64
  %p.4 = getelementptr inbounds i32, ptr %hidden, i64 1
  %grid_y = load i32, ptr %p.4, align 4
  %grid_y.wide = zext i32 %grid_y to i64
  %p.5 = getelementptr inbounds i32, ptr %hidden, i64 2
  %grid_z = load i32, ptr %p.5, align 4
  %grid_z.wide = zext i32 %grid_z to i64
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
  call void @workgroups_guarded(ptr %b_a, ptr %b_b, ptr %b_out, i64 %x, i64 %end, i32 %workgroup_y, i32 %workgroup_z)
  %position.next = add i64 %position, %count
  %more = icmp ult i64 %position.next, %stop
  br i1 %more, label %row, label %done
done:
  ret void
}

attributes #0 = { nounwind noinline optnone }
attributes #1 = { nounwind noinline }
