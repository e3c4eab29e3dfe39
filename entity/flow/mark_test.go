package flow_test

import (
	"testing"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

func TestMarksRiseOverLives(t *testing.T) {
	marks := []flow.Mark{flow.MarkOf(0, 0), flow.MarkOf(0, 9), flow.MarkOf(1, 1), flow.MarkOf(1, 1<<39), flow.MarkOf(2, 0)}
	for i, m := range marks {
		if i > 0 && m <= marks[i-1] {
			t.Errorf("%v is not above %v", m, marks[i-1])
		}
		if flow.MarkOf(m.Stream(), m.Number()) != m {
			t.Errorf("%v is not %v and %v", m, m.Stream(), m.Number())
		}
	}
}

// A sender is restored from a copy of an earlier time, and says other things under the numbers that it had
// used since. Its target has handled some of them, and says how far it was by a mark: what the sender still
// keeps is known by that, and what it says anew is not.
func TestMarkOfAFormerLife(t *testing.T) {
	var old flow.Sender
	say := func(o *flow.Sender, what string) {
		if _, err := o.Add(0, []byte(what)); err != nil {
			t.Fatal(err)
		}
	}
	say(&old, "a")
	say(&old, "b")
	copied := old.Append(nil)
	say(&old, "lost")
	say(&old, "lost too")

	var in flow.Receiver
	var heard []string
	hear := func(o *flow.Sender, life uint32) {
		o.Each(0, func(n uint64, payload []byte) {
			in.AcceptBorn(life, o.Born(n, life), o.Low(), n, payload, func(p []byte) {
				heard = append(heard, string(p))
				if d := in.Delivering(); d != in.Handled() {
					t.Errorf("delivers %v, handled %v", d, in.Handled())
				}
			})
		})
	}
	hear(&old, 0)
	handled := in.Handled()
	if handled != flow.MarkOf(0, 4) {
		t.Fatalf("handled %v", handled)
	}

	var restored flow.Sender
	r := codec.NewReader(copied)
	restored.Read(&r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	restored.Restart(0)
	if n := restored.Known(handled, 1); n != 2 {
		t.Errorf("of what it keeps, %d is known", n)
	}
	say(&restored, "new")
	if n := restored.Known(handled, 1); n != 2 {
		t.Errorf("with something new, %d is known", n)
	}
	hear(&restored, 1)
	if got := len(heard); got != 5 || heard[4] != "new" {
		t.Errorf("heard %q", heard)
	}
	if in.Handled() != flow.MarkOf(1, 3) || in.Handled() <= handled {
		t.Errorf("handled %v after %v", in.Handled(), handled)
	}
	if n := restored.Known(in.Handled(), 1); n != 3 {
		t.Errorf("at the end %d is known", n)
	}
	restored.Settle(0, 3)
	if n := restored.Known(handled, 1); n != 0 {
		t.Errorf("of a life of which nothing is kept, %d is known", n)
	}
}

// What the next life of a sender need not say again, since it was handled in the former one, is not lost.
func TestSettledInAFormerLifeIsNotLost(t *testing.T) {
	in := flow.NewReceiver(0, 80)
	deliver := func([]byte) {}
	in.AcceptBorn(1, 0, 40, 40, nil, deliver)
	in.AcceptBorn(1, 1, 51, 81, nil, deliver)
	if n := in.TakeLost(); n != 0 {
		t.Errorf("%d are counted as lost that were handled", n)
	}
	in.AcceptBorn(1, 1, 90, 90, nil, deliver)
	if n := in.TakeLost(); n != 9 {
		t.Errorf("%d are lost of 81 to 89", n)
	}
}
