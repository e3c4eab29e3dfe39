package flow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// lineage is a sender that goes on from copies of its lives, and a target that hears them.
type lineage struct {
	t     *testing.T
	life  uint32
	out   flow.Sender
	said  []string // in the line of the present life, since the first
	in    flow.Receiver
	heard []string
}

// copied is what one life has at a moment.
type copied struct {
	life uint32
	flow []byte
	said []string
}

func (l *lineage) say() {
	what := fmt.Sprintf("%d of life %d", l.out.Last()+1, l.life)
	if _, err := l.out.Add(0, []byte(what)); err != nil {
		l.t.Fatal(err)
	}
	l.said = append(l.said, what)
}

func (l *lineage) copy() copied { return copied{l.life, l.out.Append(nil), slices.Clone(l.said)} }

func (l *lineage) goOnFrom(c copied, life uint32) {
	r := codec.NewReader(c.flow)
	l.out.Read(&r)
	if err := r.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.out.Restart(c.life)
	l.life, l.said = life, slices.Clone(c.said)
}

// tell has the target hear what is kept, up to a number, by way of its encoded form.
func (l *lineage) tell(most uint64) {
	l.out.Each(0, func(n uint64, payload []byte) {
		if n > most {
			return
		}
		l.in.AcceptBorn(l.life, l.out.Born(n, l.life), l.out.Low(), n, payload, func(p []byte) { l.heard = append(l.heard, string(p)) })
	})
	r := codec.NewReader(l.in.Append(nil))
	l.in.Read(&r)
	if err := r.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// twice and missed say what was heard twice, and what of the present line was not.
func (l *lineage) faults() (twice, missed []string) {
	for i, h := range l.heard {
		if slices.Contains(l.heard[:i], h) {
			twice = append(twice, h)
		}
	}
	for _, s := range l.said {
		if !slices.Contains(l.heard, s) {
			missed = append(missed, s)
		}
	}
	return twice, missed
}

// A life goes on from an old copy, and ends before it has one of its own. The next goes on from a newer
// copy of the life before both: what only that one has is delivered, and nothing twice.
func TestLivesThatDoNotFollowOneAnother(t *testing.T) {
	l := &lineage{t: t}
	for range 3 {
		l.say()
	}
	older := l.copy()
	l.say()
	l.say()
	newer := l.copy()
	l.tell(4) // the fifth is lost
	l.goOnFrom(older, 1)
	for range 4 {
		l.say()
	}
	l.tell(99)
	l.goOnFrom(newer, 2)
	if n := l.out.Known(l.in.Handled(), 2); n != 0 {
		t.Errorf("%d of it count as known by the numbers of a life between", n)
	}
	l.say()
	l.tell(99)
	if twice, missed := l.faults(); len(twice)+len(missed) > 0 {
		t.Errorf("twice %q, missed %q, heard %q", twice, missed, l.heard)
	}
}

// Whatever lives go on from whatever copies, nothing is delivered twice. What the last life says is
// delivered whole, unless there were more lives than a target knows apart.
func TestSpokenByManyLives(t *testing.T) {
	for seed := range uint64(2000) {
		chance := rand.New(rand.NewPCG(seed, 7))
		l := &lineage{t: t}
		copies := []copied{l.copy()}
		lives := 2 + chance.IntN(6) + 8*int(seed%2)
		for life := 1; life < lives; {
			switch chance.IntN(6) {
			case 0, 1:
				l.say()
			case 2:
				copies = append(copies, l.copy())
			case 3, 4:
				l.tell(uint64(chance.IntN(int(l.out.Last()) + 1)))
			default:
				l.goOnFrom(copies[chance.IntN(len(copies))], uint32(life))
				life++
			}
		}
		l.tell(1 << 20)
		twice, missed := l.faults()
		if lives > 8 {
			missed = nil
		}
		if len(twice)+len(missed) > 0 {
			t.Fatalf("seed %d: twice %q, missed %q, heard %q", seed, twice, missed, l.heard)
		}
	}
}
