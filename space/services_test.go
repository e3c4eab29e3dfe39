package space

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/shared"
)

// fakeShared knows one fragment of each service, or none, and expects news or not.
type fakeShared struct {
	shared.Data
	fragment entity.ID
	expects  bool
	asked    int
}

func (s *fakeShared) Last() uint64                        { return 0 }
func (s *fakeShared) News(uint64) iter.Seq[shared.Change] { return func(func(shared.Change) bool) {} }
func (s *fakeShared) Choose(string, entity.ID) entity.ID  { return s.fragment }
func (s *fakeShared) Expects() bool                       { return s.expects }
func (s *fakeShared) Asked(entity.ID)                     { s.asked++ }
func (s *fakeShared) Owes(entity.ID) bool                 { return false }
func (s *fakeShared) Heard(entity.ID)                     {}

// newServiceRig has real 7 at a line, and the base 8 which runs a service: the type Avatar stands for one.
func newServiceRig(t *testing.T) (r *rig, s *fakeShared, calls func() []flow.ServerCall) {
	t.Helper()
	r = newRig(t, 2)
	r.create(7, -5, 1)
	r.create(8, -300, 1)
	r.tick(2)
	r.avatar(7).Diary.Set("")
	s = &fakeShared{expects: true}
	for _, a := range r.apps {
		a.population.env.Shared = s
	}
	var said []flow.ServerCall
	seen := map[*flow.Message]bool{}
	r.hold = func(p packet) bool {
		m, is := p.m.(*flow.Message)
		if !is || m.From != 7 || m.To != 8 {
			return false
		}
		var x flow.ServerCall
		if !seen[m] && x.Parse(m.Payload[1:]) == nil {
			seen[m] = true
			x.Args = slices.Clone(x.Args)
			said = append(said, x)
		}
		return true
	}
	return r, s, func() []flow.ServerCall { r.pump(); return said }
}

func (r *rig) askService(n int, twoWay bool) error {
	x := r.real(7)
	m := entity.Mailbox{Kind: entity.ServiceMailbox, Def: x.e.Def, Via: realCaller{x}}
	if twoWay {
		m = m.Then("OnPaid", int64(n))
	}
	return m.Call("report", n)
}

// Calls wait while news of a service may be yet to come, and are made in their order, with later ones behind them.
func TestEarlyServiceCalls(t *testing.T) {
	r, s, calls := newServiceRig(t)
	for n := range 3 {
		if err := r.askService(n, n != 1); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(3)
	if got := calls(); len(got) != 0 || s.asked != 0 {
		t.Fatalf("%d calls are made too early", len(got))
	}
	s.fragment, s.expects = 8, false
	if err := r.askService(3, true); err != nil {
		t.Fatal(err)
	}
	if got := calls(); len(got) != 0 {
		t.Fatal("a later call overtakes those that wait")
	}
	r.tick(1)
	if err := r.askService(4, true); err != nil {
		t.Fatal(err)
	}
	got := calls()
	if len(got) != 5 || s.asked != 5 {
		t.Fatalf("%d calls are made, %d noted", len(got), s.asked)
	}
	for n, x := range got {
		if x.Args[0] != byte(n) || x.Request.IsZero() != (n == 1) || n != 1 && x.Within <= 0 {
			t.Errorf("call %d is %+v", n, x)
		}
	}
	if n := r.real(7).requests.Len(); n != 4 {
		t.Errorf("%d answers are waited for", n)
	}
}

// If none comes they fail, and the next ones at once.
func TestEarlyServiceCallsFail(t *testing.T) {
	r, s, calls := newServiceRig(t)
	for n := range 2 {
		if err := r.askService(n, n == 0); err != nil {
			t.Fatal(err)
		}
	}
	refused := r.apps[0].count.Refused
	r.tick(2)
	r.diary(7, "")
	s.expects = false
	r.tick(2)
	r.diary(7, "report of 0.0: entity: nothing runs the service: Avatar;")
	r.waitsForNothing(7)
	if err := r.askService(3, true); !errors.Is(err, entity.ErrNoService) {
		t.Errorf("then: %v", err)
	}
	if got := calls(); len(got) != 0 || r.apps[0].count.Refused != refused+2 {
		t.Errorf("%d calls are made, %d refused", len(got), r.apps[0].count.Refused-refused)
	}
}

// They do not cross a border: the caller is told behind it, once.
func TestEarlyServiceCallsStay(t *testing.T) {
	r, s, calls := newServiceRig(t)
	for n := range 2 {
		if err := r.askService(n, n == 0); err != nil {
			t.Fatal(err)
		}
	}
	refused := r.apps[0].count.Refused
	r.move(7, 50)
	r.tick(12)
	if r.real(7).cell.self != addr(2) {
		t.Fatal("it has not crossed")
	}
	s.fragment = 8
	r.tick(3)
	r.diary(7, "leaving;entering;entered;report of 0.0: entity: nothing runs the service;")
	r.waitsForNothing(7)
	if got := calls(); len(got) != 0 || r.apps[0].count.Refused != refused+2 {
		t.Errorf("%d calls are made, %d refused", len(got), r.apps[0].count.Refused-refused)
	}
}
