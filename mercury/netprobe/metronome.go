package main

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// metronome sends one message to each of its channels at each beat. It sends to a slice of them at
// a time and lets the loop flush in between: when there are thousands, the first need not wait for
// the last.
type metronome struct {
	transport mercury.Transport
	chs       []mercury.ChannelID
	phases    phases
	every     time.Duration
	slice     int
	message   []byte
	clock     func() time.Duration

	due   time.Duration // this beat, or the next
	place int           // in chs, of the next message of this beat
	began time.Duration // this beat
	late  time.Duration // how long after it was due it did, if that is a beat or more
	// number is that of the message of this beat, on each channel.
	number uint32
	figures
}

func (m *metronome) tick(now time.Duration) time.Duration {
	for m.due <= now && m.due < m.phases.over {
		if m.place == 0 {
			m.begin(now)
		}
		if m.place < len(m.chs) {
			m.send(min(m.place+m.slice, len(m.chs)))
			if len(m.chs) > m.slice {
				return now // the loop flushes and calls again
			}
		}
		m.end(now)
	}
	if m.due >= m.phases.over {
		return never(now)
	}
	return m.due
}

// begin starts a beat. A message whose beat was slept over counts from when it was due: whatever
// held its sender up, the player waited.
func (m *metronome) begin(now time.Duration) {
	m.began, m.late = now, 0
	if now-m.due >= m.every {
		m.late = now - m.due
	}
}

// send sends to the channels up to one, each message stamped by its own call of Send.
func (m *metronome) send(to int) {
	flags := byte(0)
	if m.phases.within(m.due) {
		flags = flagMeasured
	}
	for _, ch := range m.chs[m.place:to] {
		if ch == 0 {
			continue
		}
		putData(m.message, flags, m.number, m.clock()-m.late)
		if m.transport.Send(ch, m.message) != nil {
			continue // Closed follows
		}
		if flags != 0 {
			m.Measured++
		}
		m.count(&m.phases, m.due, len(m.message))
	}
	m.place = to
}

// end ends a beat, whose messages the loop has handed on unless they were one slice.
func (m *metronome) end(now time.Duration) {
	if m.phases.within(m.due) && len(m.chs) > m.slice {
		m.Beats++
		m.BeatTime += now - m.began
		m.BeatMax = max(m.BeatMax, now-m.began)
	}
	m.place, m.number, m.due = 0, m.number+1, m.due+m.every
}

func (m *metronome) credit(time.Duration, int) {}

func (m *metronome) leave(ch mercury.ChannelID) {
	for i, c := range m.chs {
		if c == ch {
			m.chs[i] = 0
		}
	}
}

func (m *metronome) sent() figures { return m.figures }
