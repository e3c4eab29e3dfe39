package mercury

import "time"

// RoomHandler is a Handler that wants to know when a full queue takes messages again.
type RoomHandler interface {
	// Room tells that at least three quarters of the queue are free again of a channel that has
	// refused a message with ErrFull. It is called once after a refusal. If a message still finds
	// no room, it is refused again, and Room is called again.
	Room(now time.Duration, ch ChannelID)
}

// noteRoom lists c for Room when enough of a full stream was sent.
func (c *channel) noteRoom(e *Endpoint, s *outStream) {
	if !s.refused || s.queued > HighMark(e.cfg.MaxQueued) {
		return
	}
	s.refused = false
	if !c.roomy {
		c.roomy = true
		e.roomy = append(e.roomy, c)
	}
}

// tellRoom tells the app of the channels that take messages again.
func (e *Endpoint) tellRoom() {
	for len(e.roomy) > 0 {
		c := e.roomy[0]
		e.roomy = append(e.roomy[:0], e.roomy[1:]...)
		c.roomy = false
		if h, ok := e.handler.(RoomHandler); ok && !c.condemned && c.state != dead && !c.failing {
			h.Room(e.now, c.id)
		}
	}
}
