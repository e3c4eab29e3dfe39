package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
)

// maxSent is how many places on their way are remembered of one entity: at 10 Hz more than half a
// second of them. Beyond that the oldest are kept, since they are the next to be confirmed.
const maxSent = 6

// held is what is known of where a client holds an entity.
type held struct {
	// sure says that stamp and path are of a place that the client has had: what it holds now is that
	// one, or a later one that was sent to it.
	sure  bool
	stamp uint32
	path  uint32
	// The last reliable word on the place, 0 if there is none that is not confirmed.
	bundle      uint64
	bundleStamp uint32
	bundlePath  uint32

	count uint8
	sent  [maxSent]sentPlace
}

// sentPlace is a place on its way in a packet.
type sentPlace struct {
	packet, stamp, path uint32
}

// forget is for a record of the entity whose paths are others.
func (h *held) forget() { *h = held{} }

// told notes a place that goes in a bundle.
func (h *held) told(bundle uint64, e *entity.Entity) {
	h.bundle, h.bundleStamp, h.bundlePath = bundle, e.MoveStamp, e.Motion.Path
}

// sends notes a place that goes in a packet.
func (h *held) sends(packet uint32, e *entity.Entity) {
	if int(h.count) < len(h.sent) {
		h.sent[h.count] = sentPlace{packet, e.MoveStamp, e.Motion.Path}
		h.count++
	}
}

// confirm takes in what the client has seen.
func (h *held) confirm(s *protocol.Seen) {
	if h.bundle != 0 && h.bundle <= s.Bundle {
		h.sure, h.stamp, h.path, h.bundle = true, h.bundleStamp, h.bundlePath, 0
	}
	for i := int(h.count) - 1; i >= 0; i-- {
		p := h.sent[i]
		if !s.Has(p.packet) {
			continue
		}
		if !h.sure || !newer(h.stamp, p.stamp) {
			h.sure, h.stamp, h.path = true, p.stamp, p.path
		}
		h.count = uint8(copy(h.sent[:], h.sent[i+1:h.count]))
		return
	}
	// What is too far back to be confirmed any more makes room.
	for h.count > 0 && s.Packet > h.sent[0].packet+32 {
		h.count = uint8(copy(h.sent[:], h.sent[1:h.count]))
	}
}

// near reports whether the near form tells the client where e is, and whether it needs the yaw.
func (h *held) near(e *entity.Entity) (near, yaw bool) {
	m := &e.Motion
	near = h.sure && m.Path-h.path <= protocol.NearReach && !newer(m.Tilted, h.stamp) && !newer(m.Rose, h.stamp)
	return near, newer(m.Turned, h.stamp)
}
