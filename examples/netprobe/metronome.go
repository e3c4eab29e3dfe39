package main

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// metronome sends one message to each of its channels at each beat. The loop flushes after the tick that calls it.
type metronome struct {
	transport mercury.Transport
	chs       []mercury.ChannelID
	phases    phases
	every     time.Duration
	due       time.Duration // next beat
	message   []byte
	clock     func() time.Duration
	number    uint32 // of the message of this beat, on each channel
	figures
}

func (m *metronome) tick(now time.Duration) time.Duration {
	for ; m.due <= now && m.due < m.phases.over; m.due += m.every {
		// A beat that was slept over is late by no fault of the transport's receiver: its message counts from when it was due.
		late := time.Duration(0)
		if now-m.due >= m.every {
			late = now - m.due
		}
		m.beat(late)
	}
	if m.due >= m.phases.over {
		return never(now)
	}
	return m.due
}

// beat sends a message to each channel, stamped by its own call of Send.
func (m *metronome) beat(late time.Duration) {
	flags := byte(0)
	if m.phases.within(m.due) {
		flags = flagMeasured
	}
	for _, ch := range m.chs {
		if ch == 0 {
			continue
		}
		putData(m.message, flags, m.number, m.clock()-late)
		if m.transport.Send(ch, m.message) != nil {
			continue // Closed follows
		}
		if flags != 0 {
			m.Measured++
		}
		m.count(&m.phases, m.due, len(m.message))
	}
	m.number++
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
