// Package tail keeps the messages that one end of a session has for the other, until that end has
// said that it has them. So they can be sent again over the next channel if this one is lost.
//
//	Drop ──▶ | a  b  c  d | e  f | ◀── Add
//	          given        not yet
//	          to a channel
//
// Invariants:
//
//   - The order is that of Add, and what was not yet given to the channel is always the end of it.
//   - A message keeps its number, however often it is sent.
//   - A tail that is added to and dropped from at the same pace makes no garbage.
//
// A Tail belongs to one goroutine.
package tail

// Overhead is what a message counts beside its own bytes, so that a bound in bytes bounds empty
// messages, too. It is about what the tail keeps of each.
const Overhead = 16

// keepRoom is how many bytes of room an empty tail keeps: what a client is told in a second or two. The room
// for a burst is given back.
const keepRoom = 16 << 10

// message is what the tail knows of a message beside its bytes.
type message struct {
	number uint64
	size   uint32
	stream uint8
}

// Tail is a queue of messages of several streams. The zero value is empty.
type Tail struct {
	data     []byte
	messages []message
	// start and first are where the oldest is in data and in messages, at and next the first that the
	// channel has not been given.
	start, first int
	at, next     int
}

// Len is how many messages there are.
func (t *Tail) Len() int { return len(t.messages) - t.first }

// Size is how many bytes they count.
func (t *Tail) Size() int { return len(t.data) - t.start + t.Len()*Overhead }

// Unsent is how many bytes those count that no channel has been given.
func (t *Tail) Unsent() int { return len(t.data) - t.at + (len(t.messages)-t.next)*Overhead }

// Add puts a copy of a message at the end.
func (t *Tail) Add(stream uint8, number uint64, msg []byte) {
	t.compact()
	t.data = append(t.data, msg...)
	t.messages = append(t.messages, message{number, uint32(len(msg)), stream})
}

// compact moves the rest to the front once half of what is kept is of the past: each byte is moved
// about once.
func (t *Tail) compact() {
	if t.Len() == 0 {
		if cap(t.data) > keepRoom {
			t.data, t.messages = nil, nil
		}
		t.data, t.messages = t.data[:0], t.messages[:0]
		t.start, t.first, t.at, t.next = 0, 0, 0, 0
		return
	}
	if t.start > len(t.data)/2 {
		t.data = append(t.data[:0], t.data[t.start:]...)
		t.at -= t.start
		t.start = 0
	}
	if t.first > len(t.messages)/2 {
		t.messages = append(t.messages[:0], t.messages[t.first:]...)
		t.next -= t.first
		t.first = 0
	}
}

// First is the oldest message's stream and number; false if there is none.
func (t *Tail) First() (stream uint8, number uint64, ok bool) {
	if t.Len() == 0 {
		return 0, 0, false
	}
	m := &t.messages[t.first]
	return m.stream, m.number, true
}

// Drop forgets the oldest message.
func (t *Tail) Drop() {
	if t.Len() == 0 {
		return
	}
	t.start += int(t.messages[t.first].size)
	t.first++
	t.at, t.next = max(t.at, t.start), max(t.next, t.first)
}

// Next is the first message that the channel has not been given, which the caller must not keep, and
// its number; false if there is none.
func (t *Tail) Next() (number uint64, msg []byte, ok bool) {
	if t.next == len(t.messages) {
		return 0, nil, false
	}
	m := &t.messages[t.next]
	return m.number, t.data[t.at : t.at+int(m.size)], true
}

// Sent says that the channel has been given Next.
func (t *Tail) Sent() {
	t.at += int(t.messages[t.next].size)
	t.next++
}

// Rewind begins at the oldest again, for another channel.
func (t *Tail) Rewind() { t.at, t.next = t.start, t.first }

// Keep forgets all messages but those that keep picks, and rewinds.
func (t *Tail) Keep(keep func(stream uint8, number uint64) bool) {
	var kept Tail
	t.Each(func(stream uint8, number uint64, msg []byte) {
		if keep(stream, number) {
			kept.Add(stream, number, msg)
		}
	})
	*t = kept
}

// Each calls f with all messages, the oldest first. f must not keep msg.
func (t *Tail) Each(f func(stream uint8, number uint64, msg []byte)) {
	at := t.start
	for _, m := range t.messages[t.first:] {
		f(m.stream, m.number, t.data[at:at+int(m.size)])
		at += int(m.size)
	}
}
