package mercury

// maxNear bounds the table: the most channels that an Endpoint has by default.
const maxNear = DefaultMaxChannels

// near finds a channel by its number with a single look into memory, which is what each packet and
// each message begins with. Numbers are given one after the other, so that their low bits tell the
// channels apart that live at the same time, but for a few that have lived long: those are found in
// the map, as all are.
type near struct {
	slots []*channel // as many as a power of two; a slot holds a channel of whose number it is the low bits
}

// channel finds a channel; nil for an unknown one.
func (e *Endpoint) channel(id ChannelID) *channel {
	if n := len(e.near.slots); n > 0 {
		if c := e.near.slots[int(id)&(n-1)]; c != nil && c.id == id {
			return c
		}
	}
	return e.channels[id]
}

// add enters a channel that is in all, too. The newer of two takes the slot.
func (t *near) add(c *channel, all map[ChannelID]*channel) {
	if n := len(t.slots); 2*len(all) > n && n < maxNear {
		t.slots = make([]*channel, max(16, 2*n))
		// order does not show: who has no slot is found all the same
		for _, old := range all {
			t.slots[int(old.id)&(len(t.slots)-1)] = old
		}
	}
	t.slots[int(c.id)&(len(t.slots)-1)] = c
}

// remove takes a channel out, if it has a slot.
func (t *near) remove(c *channel) {
	if at := &t.slots[int(c.id)&(len(t.slots)-1)]; *at == c {
		*at = nil
	}
}
