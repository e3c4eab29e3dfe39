package mercury

import "time"

// RoomHandler is a Handler that wants to know when a full queue takes messages again.
type RoomHandler interface {
	// Room tells of a channel that has refused a message with ErrFull: at least three quarters of
	// its queue are free now. It comes once after a refusal. A message that still finds no room is
	// refused again, and Room comes again.
	Room(now time.Duration, ch ChannelID)
}

// noteRoom puts c down for Room when enough of a full stream has left.
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
		if h, ok := e.handler.(RoomHandler); ok && !c.condemned && c.state != dead && c.failing == nil {
			h.Room(e.now, c.id)
		}
	}
}
