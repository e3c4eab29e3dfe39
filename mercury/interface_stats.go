package mercury

import "iter"

// MessageCount counts messages of one id in one direction.
type MessageCount struct {
	Messages uint64
	Bytes    uint64 // with ids and lengths
	Largest  int    // bytes of the largest message
}

func (c *MessageCount) add(size int) {
	c.Messages++
	c.Bytes += uint64(size)
	c.Largest = max(c.Largest, size)
}

// MessageStats counts what passed of one message since its Interface was made.
type MessageStats struct {
	ID        int
	Name      string
	In        MessageCount // handled, errors included
	Out       MessageCount // ended by End; what is then not sent is counted all the same
	Errors    uint64       // of the handler, or bodies that it did not read right
	LastError error
}

// Stats iterates over the statistics of all messages, by ascending id.
func (t *Interface[C]) Stats() iter.Seq[MessageStats] {
	return func(yield func(MessageStats) bool) {
		for i := range t.messages {
			if !yield(t.messages[i].stats) {
				return
			}
		}
	}
}

// Faults is how many bundles were cut short: by a message of an unknown id, and by one that could not be told from what follows.
func (t *Interface[C]) Faults() (unknown, malformed uint64) { return t.unknown, t.broken }
