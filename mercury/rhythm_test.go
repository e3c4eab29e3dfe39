package mercury

import (
	"testing"
	"time"
)

// playTicks lets b tell a something reliable in each tick, and a say unreliably where it is, half a
// tick later. It returns how many packets a has sent.
func playTicks(l *pairLink, ch ChannelID, back ChannelID, ticks int) int {
	const tick = 100 * time.Millisecond
	before := l.sent[l.a]
	l.run(time.Duration(ticks)*tick, func(now time.Duration) {
		switch now % tick {
		case 0:
			_ = l.b.Send(back, make([]byte, 100))
		case tick / 2:
			_, _ = l.a.SendUnreliable(ch, make([]byte, 30))
		}
	})
	return l.sent[l.a] - before
}

// A player acks what it is told with what it says itself, in one packet a tick. Nothing is sent
// twice because the ack came late.
func TestAcksRideOnACalmPath(t *testing.T) {
	l, ch, _, _ := newPairLink(t, Config{}, 25*time.Millisecond)
	back := l.a.channels[ch].remote
	playTicks(l, ch, back, 150)
	if n := playTicks(l, ch, back, 500); n > 510 {
		t.Errorf("%d packets in 500 ticks", n)
	}
	if s := l.b.Stats(); s.Resends > 0 || s.Lost > 0 {
		t.Errorf("%d resends, %d taken for lost", s.Resends, s.Lost)
	}
}

// On a path that loses packets, acks wait no longer than before.
func TestAcksDoNotWaitWherePacketsAreLost(t *testing.T) {
	l, ch, _, _ := newPairLink(t, Config{}, 25*time.Millisecond)
	back := l.a.channels[ch].remote
	playTicks(l, ch, back, 150)
	n := 0
	l.drop = func(from *Endpoint, _ []byte) bool {
		if from == l.b {
			n++
		}
		return from == l.b && n%50 == 0
	}
	playTicks(l, ch, back, 200)
	l.drop = nil
	if n := playTicks(l, ch, back, 200); n < 390 {
		t.Errorf("%d packets in 200 ticks: acks wait", n)
	}
	if !(l.a.channels[ch].in.calm.missing > 0) {
		t.Error("a path that has lost packets counts as calm")
	}
	playTicks(l, ch, back, calmAgain+100)
	if n := playTicks(l, ch, back, 200); n > 210 {
		t.Errorf("%d packets in 200 ticks, long after the last loss", n)
	}
}

// Numbers that are left out on purpose are no losses, whatever their distance.
func TestLeftOutIsNotLost(t *testing.T) {
	var m calm
	for _, distance := range []int{calmGap, calmGap + 1, 2 * calmGap, 3 * calmGap} {
		for i := range distance {
			m.packet(i == distance-1)
		}
		if m.missing > 0 {
			t.Fatalf("gaps %d packets apart count as losses", distance)
		}
	}
	for i := range calmGap - 1 {
		m.packet(i == calmGap-2)
	}
	if m.missing != calmAgain {
		t.Error("a loss is not noticed")
	}
}
