declare i64 @llvm.umin.i64(i64, i64)

define internal i32 @native_f32_add(i32 %a, i32 %b) alwaysinline nounwind {
  %x = bitcast i32 %a to float
  %y = bitcast i32 %b to float
  %r = fadd float %x, %y
  %result = bitcast float %r to i32
  ret i32 %result
}
define internal i32 @native_f32_mul(i32 %a, i32 %b) alwaysinline nounwind {
  %x = bitcast i32 %a to float
  %y = bitcast i32 %b to float
  %r = fmul float %x, %y
  %result = bitcast float %r to i32
  ret i32 %result
}
define internal i32 @soft_f32_canon(i32 %p_a) alwaysinline nounwind {
  %x = bitcast i32 %p_a to float
  %nan = fcmp uno float %x, 0.0
  %result = select i1 %nan, i32 2143289344, i32 %p_a
  ret i32 %result
}

define internal void @invocations_guarded(ptr noalias readonly %b_a, ptr noalias %b_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %s_total = alloca i32, align 4
  %any = icmp ult i64 %first, %last
  br i1 %any, label %invocation, label %done
invocation:
  %id = phi i64 [ %first, %entry ], [ %id.next, %following ]
  %c = icmp ult i32 0, 128
  %p = getelementptr inbounds i32, ptr %b_a, i64 0
  %t = load i32, ptr %p, align 4
  %v_total = select i1 %c, i32 %t, i32 0
  store i32 %v_total, ptr %s_total, align 4
  %c.1 = icmp ult i32 0, 128
  %t.1 = add i32 0, 1
  %t.2 = select i1 %c.1, i32 %t.1, i32 128
  %c.2 = icmp ult i32 %t.2, 128
  br i1 %c.2, label %loop, label %endloop
loop:
  %v_k = phi i32 [ %t.2, %invocation ], [ %next_k, %latch ]
  %t.3 = load i32, ptr %s_total, align 4
  %at = zext i32 %v_k to i64
  %p.1 = getelementptr inbounds i32, ptr %b_a, i64 %at
  %t.4 = load i32, ptr %p.1, align 4
  %t.5 = call i32 @native_f32_add(i32 %t.3, i32 %t.4)
  store i32 %t.5, ptr %s_total, align 4
  br label %latch
latch:
  %next_k = add nuw i32 %v_k, 1
  %c.3 = icmp ult i32 %next_k, 128
  br i1 %c.3, label %loop, label %endloop
endloop:
  %c.4 = icmp ult i32 0, 128
  %t.6 = sub i32 128, 0
  %t.7 = select i1 %c.4, i32 %t.6, i32 0
  %c.5 = icmp ugt i32 %t.7, 1
  %t.8 = load i32, ptr %s_total, align 4
  %t.9 = call i32 @native_f32_mul(i32 %t.8, i32 1065353216)
  %t.10 = call i32 @soft_f32_canon(i32 %t.9)
  %p.2 = getelementptr inbounds i32, ptr %b_a, i64 0
  %t.11 = load i32, ptr %p.2, align 4
  %t.12 = select i1 %c.4, i32 %t.11, i32 0
  %t.13 = select i1 %c.5, i32 %t.10, i32 %t.12
  %p.3 = getelementptr inbounds i32, ptr %b_out, i64 0
  store i32 %t.13, ptr %p.3, align 4
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
  %first_invocation = mul i64 %x, 1
  %last_invocation = mul i64 %end, 1
  call void @invocations_guarded(ptr %b_a, ptr %b_out, i64 %first_invocation, i64 %last_invocation, i32 %workgroup_y, i32 %workgroup_z)
  %position.next = add i64 %position, %count
  %more = icmp ult i64 %position.next, %stop
  br i1 %more, label %row, label %done
done:
  ret void
}

attributes #0 = { nounwind noinline optnone }
attributes #1 = { nounwind noinline }
