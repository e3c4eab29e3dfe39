package spacetest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/spacetest"
)

// filter is a service that tells which of its fragments has answered.
type filter struct {
	*entity.Base
	a *asked `cellscape:"local"`
}

func (f *filter) Clean(text string) (string, entity.ID, error) {
	f.a.handled[text]++
	switch text {
	case "crash":
		panic("for the test")
	case "think": // it never comes to an end
		_, err := f.Later()
		return "", 0, err
	}
	return text + "!", f.ID(), nil
}

// asked counts what came of calls, and notes each.
type asked struct {
	said, answered, failed int
	by                     map[entity.ID]int
	last                   error
	now                    func() time.Duration
	calls                  []asking
	handled                map[string]int // how often, by their texts
}

// asking is a call: when it was made, when it ended, and how.
type asking struct {
	at, end time.Duration
	err     error
}

func (a *asked) hear(r entity.Reply) {
	var text string
	var by entity.ID
	if err := r.Scan(&text, &by); err != nil {
		a.fails(r.User, err)
		return
	}
	a.calls[r.User].end = a.now()
	a.answered++
	a.by[by]++
}

func (a *asked) fails(call int64, err error) {
	a.calls[call].end, a.calls[call].err = a.now(), err
	a.failed++
	a.last = err
}

func (a *asked) ask(m entity.Mailbox) {
	call := int64(len(a.calls))
	a.calls = append(a.calls, asking{at: a.now()})
	a.said++
	if err := m.Then("OnClean", call).Call("clean", fmt.Sprint(call)); err != nil {
		a.fails(call, err)
	}
}

// speaker asks once in a tenth of a second, by its base and its cell part.
type speaker struct {
	*entity.Base
	a *asked `cellscape:"local"`
}

func (s *speaker) OnCreated() {
	s.a.ask(s.service())
	_ = s.CreateCell(1, property.Vector3{X: float32(s.ID()%7) * 10}, property.Vector3{}, nil)
	_, _ = s.AddTimer(100*time.Millisecond, 100*time.Millisecond, "OnBeat", 0)
}

func (s *speaker) service() entity.Mailbox { return s.Lookup(0, "Filter", entity.ServiceMailbox) }

func (s *speaker) OnBeat(entity.Callback) {
	s.a.ask(s.service())
}
func (s *speaker) OnClean(r entity.Reply) { s.a.hear(r) }

type speakerCell struct {
	*space.Real
	a *asked `cellscape:"local"`
}

func (s *speakerCell) OnCreated() {
	s.a.ask(s.Lookup(0, "Filter", entity.ServiceMailbox))
	_, _ = s.AddTimer(100*time.Millisecond, 100*time.Millisecond, "OnBeat", 0)
}
func (s *speakerCell) OnClean(r entity.Reply) { s.a.hear(r) }
func (s *speakerCell) OnBeat(entity.Callback) {
	// A mailbox of a service can be kept like any other.
	m := s.Mailbox(s.Lookup(0, "Filter", entity.ServiceMailbox).Value())
	s.a.ask(m)
}

// services is a world of 40 speakers on two CellApps and two BaseApps.
func services(t *testing.T, served bool, apply ...func(*spacetest.Config)) (*spacetest.World, *asked) {
	t.Helper()
	schema, err := property.Load(fstest.MapFS{
		"entities.xml":            {Data: []byte(`<root><Speaker hasCell="true" hasBase="true"/></root>`)},
		"entity_defs/Speaker.def": {Data: []byte(`<root/>`)},
		"services.xml":            {Data: []byte(`<root><Filter/></root>`)},
		"service_defs/Filter.def": {Data: []byte(`<root><Methods><clean><Arg> STRING </Arg><ReturnValues><text> STRING </text><by> ENTITY_ID </by></ReturnValues></clean></Methods></root>`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{by: map[entity.ID]int{}, handled: map[string]int{}, now: func() time.Duration { return 1 }}
	cells, bases := space.NewScripts(schema), baseapp.NewScripts(schema)
	space.Register(cells, "Speaker", func() *speakerCell { return &speakerCell{a: a} })
	baseapp.Register(bases, "Speaker", func() *speaker { return &speaker{a: a} })
	if served {
		baseapp.Register(bases, "Filter", func() *filter { return &filter{a: a} })
	}
	begun := 0
	cfg := spacetest.Config{World: cluster.Config{CellScripts: cells, BaseScripts: bases, CellApps: 2, BaseApps: 2, BackupPeriod: time.Second, BaseStart: func(s *baseapp.Starter) {
		for ; begun < 40; begun++ {
			if _, err := s.CreateBase("Speaker", nil); err != nil {
				t.Error(err)
			}
		}
	}}}
	for _, f := range apply {
		f(&cfg)
	}
	w := spacetest.Start(t, cfg)
	a.now = w.Now
	w.Run(3 * time.Second)
	return w, a
}

// during runs the world and returns what came of the calls in that time.
func (a *asked) during(w *spacetest.World, d time.Duration) asked {
	was := *a
	a.by, a.last = map[entity.ID]int{}, nil
	w.Run(d)
	return asked{said: a.said - was.said, answered: a.answered - was.answered, failed: a.failed - was.failed, by: a.by, last: a.last}
}

// What a world begins with finds its services: calls wait for the first news of them, and no call fails.
func TestServiceInTheFirstBeat(t *testing.T) {
	for name, loss := range map[string]float64{"clean": 0, "loss": 0.05} {
		t.Run(name, func(t *testing.T) {
			w, a := services(t, true, func(c *spacetest.Config) { c.Link = mercurytest.Link{Delay: time.Millisecond, Loss: loss} })
			if a.failed > 0 || a.answered < a.said-50 {
				t.Errorf("of the first %d calls %d were answered, %d failed: %v", a.said, a.answered, a.failed, a.last)
			}
			if repeated := a.repeated(); repeated > 0 {
				t.Errorf("%d calls were handled twice", repeated)
			}
			if got := a.during(w, time.Second); got.failed > 0 {
				t.Errorf("then %d failed: %v", got.failed, got.last)
			}
		})
	}
}

// Calls to a service are answered by fragments on all BaseApps, also on those that come later.
func TestServiceOnEachBaseApp(t *testing.T) {
	w, a := services(t, true)
	got := a.during(w, 5*time.Second)
	if got.failed > 0 || got.answered < 3900 || len(got.by) != 2 {
		t.Errorf("of %d calls %d were answered by %d fragments, %d failed: %v", got.said, got.answered, len(got.by), got.failed, got.last)
	}
	w.AddBaseApp()
	w.Run(3 * time.Second)
	if got := a.during(w, 5*time.Second); got.failed > 0 || len(got.by) != 3 {
		t.Errorf("with a third BaseApp %d fragments answer, %d failed: %v", len(got.by), got.failed, got.last)
	}
}

// When a BaseApp dies, its fragment goes: calls to it fail until then, and not afterwards.
func TestServiceWhenBaseAppDies(t *testing.T) {
	w, a := services(t, true)
	w.BaseApps()[1].Kill()
	got := a.during(w, 10*time.Second)
	if got.last != nil && !errors.Is(got.last, entity.ErrNoEntity) {
		t.Errorf("%d of %d calls failed: %v", got.failed, got.said, got.last)
	}
	if got := a.during(w, 5*time.Second); got.failed > 0 || got.answered < got.said-100 || len(got.by) != 1 {
		t.Errorf("afterwards %d of %d were answered, %d failed: %v", got.answered, got.said, got.failed, got.last)
	}
}

// A fragment that has taken a call and dies before it answers has no heir: the callers are told soon after the
// verdict, also those that died with it and were restored. (They waited until the call had timed out. A
// fragment settles what it handles, so they kept nothing of the call of which an heir could have said that it
// is gone.)
func TestServiceDiesThatOwesAnswers(t *testing.T) {
	w, a := services(t, true)
	calls := 0
	think := func(m entity.Mailbox) {
		if err := m.Then("OnClean", 0).Within(time.Minute).Call("clean", "think"); err != nil {
			t.Error(err)
		}
		calls++
	}
	for s := range spacetest.BaseScripts[speaker](w) {
		think(s.service())
	}
	for s := range spacetest.CellScripts[speakerCell](w) {
		think(s.Lookup(0, "Filter", entity.ServiceMailbox))
	}
	w.Run(5 * time.Second) // the calls are in the copies of those who made them
	w.BaseApps()[1].Kill()
	got := a.during(w, 12*time.Second)
	if got.failed < calls/3 || got.failed > calls || !errors.Is(got.last, entity.ErrNoEntity) {
		t.Errorf("%d calls were kept, by two fragments, and after the death of one %d failed: %v", calls, got.failed, got.last)
	}
	w.BaseApps()[0].Pause(time.Second)
	if got := a.during(w, 40*time.Second); got.failed > 0 {
		t.Errorf("%d more failed later: %v", got.failed, got.last)
	}
	if got := a.during(w, 20*time.Second); got.failed == 0 || !errors.Is(got.last, entity.ErrTimeout) {
		t.Errorf("the other fragment lives, and never answers: %d failed: %v", got.failed, got.last)
	}
}

// A BaseApp that retires takes its fragment off the list first: no call fails.
func TestServiceWhenBaseAppRetires(t *testing.T) {
	w, a := services(t, true)
	b := w.BaseApps()[1]
	b.Retire("for the test")
	got := a.during(w, 40*time.Second)
	if b.Alive() || got.failed > 0 || got.answered < got.said*9/10 {
		t.Errorf("it has left: %v; of %d calls %d were answered, %d failed: %v", !b.Alive(), got.said, got.answered, got.failed, got.last)
	}
	if got := a.during(w, 5*time.Second); got.failed > 0 || len(got.by) != 1 {
		t.Errorf("afterwards %d fragments answer, %d failed: %v", len(got.by), got.failed, got.last)
	}
}

// A fragment whose script has panicked is made again, and the managers may die meanwhile.
func TestServiceFragmentIsMadeAgain(t *testing.T) {
	w, a := services(t, true)
	for s := range spacetest.BaseScripts[speaker](w) {
		if err := s.service().Call("clean", "crash"); err != nil {
			t.Error(err)
		}
		break
	}
	w.Run(time.Second)
	if got := a.during(w, 3*time.Second); len(got.by) != 1 || got.failed > 0 {
		t.Errorf("after a panic %d fragments answer, %d failed: %v", len(got.by), got.failed, got.last)
	}
	for _, m := range w.Managers() {
		m.Kill()
	}
	w.Run(2 * time.Second)
	for _, m := range w.Managers() {
		m.Restart()
	}
	w.Run(20 * time.Second)
	if got := a.during(w, 5*time.Second); got.failed > 0 || len(got.by) != 2 {
		t.Errorf("in the end %d fragments answer, %d failed: %v", len(got.by), got.failed, got.last)
	}
}

// Without a script nobody runs a service, and the caller is told.
func TestServiceThatNobodyRuns(t *testing.T) {
	w, a := services(t, false)
	if n := a.between(0, time.Second); n.made == 0 || n.failed != n.made || n.longest > app.FirstNews+200*time.Millisecond || !errors.Is(a.last, entity.ErrNoService) {
		t.Errorf("the first calls: %+v, %v", n, a.last)
	}
	if got := a.during(w, time.Second); got.failed < got.said-1 || !errors.Is(got.last, entity.ErrNoService) {
		t.Errorf("%d of %d calls failed: %v", got.failed, got.said, got.last)
	}
	for s := range spacetest.BaseScripts[speaker](w) {
		if m := s.Lookup(0, "Speaker", entity.ServiceMailbox); m.Def != nil {
			t.Error(fmt.Errorf("a type is no service: %+v", m))
		}
	}
}
