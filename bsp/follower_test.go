package bsp

import (
	"errors"
	"slices"
	"testing"
)

// chain returns the messages that lead through the versions of a history: the first is whole, the
// others are deltas.
func chain(t testing.TB, n int) (told []*Tree, msgs [][]byte) {
	told = history(t, 5, n, 4)
	msgs = append(msgs, told[0].Append(nil))
	for i := 1; i < n; i++ {
		msgs = append(msgs, told[i].AppendDelta(nil, told[i-1]))
	}
	return told, msgs
}

func TestFollowerTakesAChainInAnyOrder(t *testing.T) {
	told, msgs := chain(t, 4)
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 3, 1, 2}, {1, 1, 3, 0, 0, 2}, {2, 0, 3, 3, 1, 1}} {
		var f Follower
		for _, i := range order {
			if _, err := f.Take(msgs[i]); err != nil {
				t.Fatal(err)
			}
		}
		if from, now := f.Lacks(); now || from != told[3].Version() || f.Tree().String() != told[3].String() {
			t.Errorf("order %v: at %v", order, from)
		}
	}
}

func TestFollowerSaysWhatItLacks(t *testing.T) {
	told, msgs := chain(t, 4)
	var f Follower
	lacks := func(when string, want Version, wantNow bool) {
		t.Helper()
		if from, now := f.Lacks(); from != want || now != wantNow {
			t.Errorf("%s: lacks from %v (%v), want %v (%v)", when, from, now, want, wantNow)
		}
	}
	take := func(msg []byte) {
		t.Helper()
		if _, err := f.Take(msg); err != nil {
			t.Error(err)
		}
	}
	lacks("empty", Version{}, true)
	take(msgs[1])
	lacks("a delta alone", Version{}, true)
	take(msgs[0])
	lacks("a tree and its delta", told[1].Version(), false)
	take(msgs[3])
	lacks("a gap", told[1].Version(), true)
	take(told[3].AppendDelta(nil, told[1]))
	lacks("a repair", told[3].Version(), false)
	take(msgs[2])
	lacks("what is old", told[3].Version(), false)
}

func TestFollowerInDoubtWantsAWholeTree(t *testing.T) {
	told, msgs := chain(t, 3)
	for _, repair := range [][]byte{msgs[0], msgs[1], told[2].Append(nil)} {
		var f Follower
		if _, err := f.Take(msgs[0]); err != nil {
			t.Fatal(err)
		}
		damaged := slices.Clone(msgs[1])
		damaged[len(damaged)-1]++
		if changed, err := f.Take(damaged); changed || !errors.Is(err, ErrFormat) {
			t.Fatalf("changed %v, error %v", changed, err)
		}
		if from, now := f.Lacks(); from != (Version{}) || !now || f.Tree().String() != told[0].String() {
			t.Errorf("lacks from %v (%v) after a damaged delta", from, now)
		}
		if changed, err := f.Take(repair); !changed || err != nil {
			t.Errorf("repair: changed %v, error %v", changed, err)
		}
		if from, now := f.Lacks(); from != f.Tree().Version() || now {
			t.Errorf("still lacks from %v (%v)", from, now)
		}
	}
}

func TestFollowerForgetsDeltasOfVersionsThatNeverWere(t *testing.T) {
	told, msgs := chain(t, 3)
	var f Follower
	if _, err := f.Take(msgs[0]); err != nil {
		t.Fatal(err)
	}
	for n := range uint32(10 * maxHeld) {
		never := told[2].Clone()
		never.SetVersion(Version{900, n})
		after := never.Clone()
		after.SetVersion(Version{900, n + 1})
		if _, err := f.Take(after.AppendDelta(nil, never)); err != nil || len(f.held) > maxHeld {
			t.Fatalf("%d held, error %v", len(f.held), err)
		}
	}
	for range heldFor + 1 {
		_, _ = f.Take(msgs[0])
	}
	if from, now := f.Lacks(); now || from != told[0].Version() || f.Missed() != 10*maxHeld {
		t.Errorf("lacks from %v (%v), %d missed", from, now, f.Missed())
	}
	if _, err := f.Take(make([]byte, MaxEncoded+1)); !errors.Is(err, ErrFormat) {
		t.Errorf("too long a message: error %v", err)
	}
}

func TestFollowerHoldsNoMoreThanItsBytes(t *testing.T) {
	base := newGrid(t, 1000)
	base.SetVersion(Version{1, 1})
	for i := range uint32(3) {
		b := base.Clone()
		b.SetVersion(Version{1, 2 + i})
		next := newGrid(t, 1000)
		for _, l := range next.Leaves() {
			l.Cell.Term = 2 + i // every cell is new: as large as a tree
		}
		next, err := ParseText(next.String())
		if err != nil {
			t.Fatal(err)
		}
		next.SetVersion(Version{1, 3 + i})
		var f Follower
		for range 3 {
			if _, err := f.Take(next.AppendDelta(nil, b)); err != nil {
				t.Fatal(err)
			}
			b.SetVersion(Version{1, b.Version().N + 10})
			next.SetVersion(Version{1, next.Version().N + 10})
		}
		total := 0
		for _, d := range f.held {
			total += len(d.bytes)
		}
		if total == 0 || total > maxHeldBytes {
			t.Errorf("%d bytes held", total)
		}
	}
}

func FuzzFollower(f *testing.F) {
	told, msgs := chain(f, 4)
	f.Add(msgs[0], msgs[1], msgs[2])
	f.Add(msgs[1], msgs[2], msgs[0])
	f.Add(msgs[0], told[3].AppendDelta(nil, told[1]), told[2].Append(nil))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var follower Follower
		for _, msg := range [][]byte{a, b, c, a} {
			changed, err := follower.Take(msg)
			if err != nil && (changed || !errors.Is(err, ErrFormat)) {
				t.Fatalf("changed %v, error %v", changed, err)
			}
			if follower.Tree() != nil {
				checkInvariants(t, follower.Tree())
			}
		}
	})
}
