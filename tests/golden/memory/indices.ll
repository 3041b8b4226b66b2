declare i64 @llvm.umin.i64(i64, i64)

define internal void @workgroups_guarded(ptr noalias %b_out, i64 %first, i64 %last, i32 %workgroup_y, i32 %workgroup_z) #1 {
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %workgroup, label %done
workgroup:
  %group = phi i64 [ %first, %entry ], [ %group.next, %following ]
  %workgroup_x = trunc i64 %group to i32
  br label %local_z
local_z:
  %at_z = phi i64 [ 0, %workgroup ], [ %at_z.next, %latch ]
  br label %local_y
local_y:
  %at_y = phi i64 [ 0, %local_z ], [ %at_y.next, %latch.1 ]
  br label %local_x
local_x:
  %at_x = phi i64 [ 0, %local_y ], [ %at_x.next, %latch.2 ]
  %local_x.1 = trunc i64 %at_x to i32
  %t = mul i32 %workgroup_x, 4
  %invocation_x = add i32 %t, %local_x.1
  %local_y.1 = trunc i64 %at_y to i32
  %t.1 = mul i32 %workgroup_y, 2
  %invocation_y = add i32 %t.1, %local_y.1
  %local_z.1 = trunc i64 %at_z to i32
  %t.2 = mul i32 %workgroup_z, 2
  %invocation_z = add i32 %t.2, %local_z.1
  %w = mul i64 %group, 4
  %id.1 = add i64 %w, %at_x
  %w.1 = mul i64 %at_y, 4
  %w.2 = add i64 %at_x, %w.1
  %w.3 = mul i64 %at_z, 8
  %w.4 = add i64 %w.2, %w.3
  %t.3 = shl i32 %invocation_z, 3
  %t.4 = add i32 %invocation_y, %t.3
  %t.5 = shl i32 %t.4, 3
  %v_i = add i32 %invocation_x, %t.5
  %ok = icmp ult i32 %v_i, 128
  %at = zext i32 %v_i to i64
  %t.6 = mul i32 %local_y.1, 10
  %t.7 = add i32 %local_x.1, %t.6
  %t.8 = mul i32 %local_z.1, 100
  %t.9 = add i32 %t.7, %t.8
  %t.10 = add i32 %t.9, %workgroup_x
  %t.11 = mul i32 %workgroup_y, 7
  %t.12 = add i32 %t.10, %t.11
  %t.13 = mul i32 %workgroup_z, 49
  %t.14 = add i32 %t.12, %t.13
  br i1 %ok, label %inside, label %after
inside:
  %p = getelementptr inbounds i32, ptr %b_out, i64 %at
  store i32 %t.14, ptr %p, align 4
  br label %after
after:
  br label %latch.2
latch.2:
  %at_x.next = add nuw i64 %at_x, 1
  %more = icmp ult i64 %at_x.next, 4
  br i1 %more, label %local_x, label %latch.1
latch.1:
  %at_y.next = add nuw i64 %at_y, 1
  %more.1 = icmp ult i64 %at_y.next, 2
  br i1 %more.1, label %local_y, label %latch
latch:
  %at_z.next = add nuw i64 %at_z, 1
  %more.2 = icmp ult i64 %at_z.next, 2
  br i1 %more.2, label %local_z, label %endregion
endregion:
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
  call void @workgroups_guarded(ptr %b_out, i64 %x, i64 %end, i32 %workgroup_y, i32 %workgroup_z)
  %position.next = add i64 %position, %count
  %more = icmp ult i64 %position.next, %stop
  br i1 %more, label %row, label %done
done:
  ret void
}

attributes #0 = { nounwind noinline optnone }
attributes #1 = { nounwind noinline }
