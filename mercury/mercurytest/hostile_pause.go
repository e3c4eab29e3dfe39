package mercurytest

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Peers that pause for ever hold no more than MaxQueued each of what is sent to them, which is
// refused beyond that and counted; whoever else there is notices nothing.
func pausesForEver(s *siege) {
	const peers, queue = 20, 100_000
	s.limit = func(c *mercury.Config) { c.MaxMessage, c.MaxQueued = 1000, queue }
	s.begin()
	honest := s.visit(900, nil)
	before := heapInUse()
	var rude []*visitor
	for n := range peers {
		v := s.visit(2+n, nil)
		v.e.Pause(v.ch)
		rude = append(rude, v)
	}
	full := s.a.Stats().Full
	for round := range 200 {
		for _, v := range rude {
			for range 10 {
				if err := s.a.Send(v.ours, make([]byte, 1000)); err != nil && !errors.Is(err, mercury.ErrFull) {
					s.t.Fatalf("round %d: %v", round, err)
				}
			}
			if waiting, _ := s.a.Queued(v.ours); waiting > queue {
				s.t.Fatalf("%d bytes wait for a peer that has paused", waiting)
			}
		}
		s.w.Run(20 * time.Millisecond)
		if round%50 == 0 {
			s.talk(honest, "beside paused channels")
		}
	}
	if n := s.a.Stats().Full - full; n < peers*500 { // a window of each lies at the peers themselves
		s.t.Errorf("%d of %d messages were counted as refused", n, peers*2000)
	}
	s.w.Run(2 * mercury.DefaultInactivity)
	if n := s.a.Stats().Channels; n != peers+1 {
		s.t.Errorf("%d channels: a pause is no silence", n)
	}
	for i, v := range rude {
		s.w.Remove(v.e.Self().At)
		rude[i] = nil
	}
	if grown := heapInUse() - before; grown > 2*peers*queue+siegeSlack {
		s.t.Errorf("%d peers that have paused take %d bytes of memory", peers, grown)
	}
	s.w.Run(2 * mercury.DefaultInactivity)
	if n := s.a.Stats().Channels; n != 1 {
		s.t.Errorf("%d channels when all who had paused have gone", n)
	}
	s.talk(honest, "after all")
}

// A peer that pauses and resumes as fast as it can is answered no more than others are, and gets
// everything once and in order.
func floodsPauses(s *siege) {
	run := func(rude bool) (packets uint64) {
		s.begin()
		honest, v := s.visit(900, nil), s.visit(2, nil)
		known := len(v.at.Of(v.ch).Reliable)
		was := s.a.Stats().PacketsOut
		for i := range 300 {
			if err := s.a.Send(v.ours, numbered(i, 500)); err != nil {
				s.t.Fatal(err)
			}
			for range 20 {
				if rude {
					v.e.Pause(v.ch)
				}
				s.w.Run(time.Millisecond / 2)
				if rude {
					v.e.Resume(v.ch)
				}
				s.w.Run(time.Millisecond / 2)
			}
			if i%100 == 50 {
				s.talk(honest, "beside a flood of pauses")
			}
		}
		s.w.Run(time.Second)
		if got := v.at.Of(v.ch).Reliable[known:]; len(got) != 300 {
			s.t.Errorf("%d of 300 messages came", len(got))
		}
		if closed := s.atA.Of(v.ours).Closed; len(closed) > 0 {
			s.t.Errorf("closed with %v", closed)
		}
		return s.a.Stats().PacketsOut - was
	}
	sound, flooded := run(false), run(true)
	s.t.Logf("%d packets to a peer that floods pauses, %d to a sound one", flooded, sound)
	if flooded > 30*sound { // it acks each resume, which came in a packet of its own
		s.t.Errorf("%d packets to a peer that floods pauses, %d to a sound one", flooded, sound)
	}
}

// The datagrams in which a peer pauses its channel, said again in the name of others and from other
// places, pause nobody else's channel; nor does a peer that names a channel which it has not.
func pausesAnothers(s *siege) {
	rude, honest := s.visit(2, nil), s.visit(3, nil)
	s.record()
	rude.e.Pause(rude.ch)
	for i := range 20 {
		if err := s.a.Send(rude.ours, numbered(i, 100)); err != nil {
			s.t.Fatal(err)
		}
		s.w.Run(20 * time.Millisecond)
	}
	said := s.tape
	before := s.a.Stats()
	for n, p := range said {
		if p.from == Place(2) {
			s.w.Inject(Place(3), Place(1), p.data)
			s.w.Inject(stranger(n), Place(1), p.data)
		}
	}
	s.w.Run(100 * time.Millisecond)
	for ch := range mercury.ChannelID(64) {
		if ch != rude.ch {
			rude.e.Pause(ch)
			rude.e.Resume(ch)
		}
	}
	after := s.a.Stats()
	if after.Duplicates+after.BadChannel+after.BadFrame+after.BadKind+after.BadChecksum ==
		before.Duplicates+before.BadChannel+before.BadFrame+before.BadKind+before.BadChecksum {
		s.t.Error("nothing of it was counted")
	}
	for range 20 {
		s.talk(honest, "when another has paused")
	}
	if n := len(rude.at.Of(rude.ch).Reliable); n > 0 {
		s.t.Errorf("%d messages came to who had paused", n)
	}
	rude.e.Resume(rude.ch)
	if !s.w.RunUntil(time.Second, func() bool { return len(rude.at.Of(rude.ch).Reliable) == 20 }) {
		s.t.Errorf("%d of 20 messages came after the pause", len(rude.at.Of(rude.ch).Reliable))
	}
}
