package mercury

import (
	"testing"
	"unsafe"
)

// A server holds thousands of channels. An allocation of this size with its header of 8 bytes fits a
// class of Go's allocator; a field more costs 128 bytes a channel. What most channels never need
// belongs behind a pointer: dialState, guest, troubles, peerMove, copyTrial, backlog.
func TestChannelIsSmall(t *testing.T) {
	const class, header = 1152, 8
	if size := unsafe.Sizeof(channel{}); size > class-header {
		t.Errorf("a channel takes %d bytes, which the allocator makes more than %d", size, class)
	}
	if size := unsafe.Sizeof(sentPacket{}); size > 128 {
		t.Errorf("a packet in flight takes %d bytes", size)
	}
}
