package client

import (
	"testing"
	"unsafe"
)

// What a place changes of a replica, and the caller's Tag, are one line of the processor's cache:
// Go's allocator puts objects of 128 bytes at multiples of that.
func TestReplicaLines(t *testing.T) {
	var r Replica
	if size, first := unsafe.Sizeof(r), unsafe.Offsetof(r.Tag)+unsafe.Sizeof(r.Tag); size != 128 || first > 64 {
		t.Errorf("a replica is %d bytes, the first part of it %d; want 128 and up to 64", size, first)
	}
}
