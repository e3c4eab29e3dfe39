package space

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// later makes an avatar answer its calls later, and notes their tokens.
func (r *rig) later(id entity.ID) *[]entity.AnswerToken {
	tokens := new([]entity.AnswerToken)
	r.avatar(id).hook = func(a *Avatar, what string) {
		if !strings.HasPrefix(what, "pay") || strings.HasPrefix(what, "pay of") {
			return
		}
		token, err := a.Later()
		if again, _ := a.Later(); err != nil || again != token {
			r.t.Errorf("two tokens of a call: %v and %v, %v", token, again, err)
		}
		*tokens = append(*tokens, token)
	}
	return tokens
}

func (r *rig) pay(caller, target entity.ID, n uint32) {
	r.t.Helper()
	if err := r.cellOf(caller, target).Then("OnPaid", int64(n)).Call("pay", n); err != nil {
		r.t.Fatal(err)
	}
	r.tick(3)
}

// A call is answered when its method says so, and once.
func TestAnswersLater(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	tokens := r.later(8)
	r.pay(7, 8, 30)
	r.pay(7, 8, 31)
	r.pay(7, 8, 13) // the method returns an error
	r.diary(7, "pay of 0.8: bad luck (13);")
	r.clean()
	if err := r.cellOf(7, 8).Call("pay", 33); err != nil { // who wants no answer
		t.Fatal(err)
	}
	r.tick(3)
	a, list := r.avatar(8), *tokens
	if len(list) != 4 || list[3] != 0 || list[0] == 0 {
		t.Fatalf("tokens %v", list)
	}
	for name, c := range map[string]struct{ got, want error }{
		"too few":     {a.Answer(list[0], uint32(1)), entity.ErrArguments},
		"too many":    {a.Answer(list[0], uint32(1), strings.Repeat("x", 1<<20)), entity.ErrArguments},
		"no error":    {a.Fail(list[0], nil), entity.ErrArguments},
		"of nobody":   {a.Answer(list[0]+1, uint32(1), "late"), entity.ErrAnswered},
		"has failed":  {a.Answer(list[2], uint32(1), "late"), entity.ErrAnswered},
		"wants none":  {a.Answer(0, "anything"), nil},
		"nor a no":    {a.Fail(0, errDeaf), nil},
		"answered":    {a.Answer(list[0], uint32(5), "late"), nil},
		"failed":      {a.Fail(list[1], errDeaf), nil},
		"not handled": {func() error { _, err := a.Later(); return err }(), entity.ErrNoCall},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	r.tick(3)
	for _, token := range list[:2] {
		if err := errors.Join(a.Answer(token, uint32(6), "again")); !errors.Is(err, entity.ErrAnswered) {
			t.Errorf("a second answer: %v", err)
		}
	}
	got := r.avatar(7).Diary.Get()
	if !strings.Contains(got, "pay of 0.8: 5 left by late, user 30;") || !strings.Contains(got, "pay of 0.8: "+errDeaf.Error()+";") || strings.Count(got, ";") != 2 {
		t.Errorf("the caller heard %q", got)
	}
	r.calm()
}

// What is not answered yet goes where its entity goes, and is in its backups; the token stays good.
func TestTokensTravel(t *testing.T) {
	r := newRig(t, 3)
	r.create(7, 500, 1)
	r.create(8, -50, 1)
	r.tick(5)
	r.clean()
	tokens := r.later(8)
	r.pay(7, 8, 30)
	r.pay(7, 8, 31)
	was := r.real(8).cell
	r.move(8, 60)
	r.tick(20)
	if r.real(8).cell == was {
		t.Fatal("it has not moved")
	}
	b := *r.backUp(8)
	if err := r.real(8).Answer((*tokens)[0], uint32(1), "one"); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	r.diary(7, "pay of 0.8: 1 left by one, user 30;")
	r.real(8).cell.drop(r.real(8))
	r.restore(8, 60, b.Parts, b.Handled)
	r.tick(3)
	for i, err := range []error{r.real(8).Answer((*tokens)[0], uint32(2), "again"), r.real(8).Answer((*tokens)[1], uint32(3), "three")} {
		if err != nil { // it knows no better than its backup
			t.Errorf("%d: %v", i, err)
		}
	}
	r.tick(20)
	r.diary(7, "pay of 0.8: 1 left by one, user 30;pay of 0.8: 3 left by three, user 31;")
	r.calm()
}

// A restored entity that handles a call again gives it the same token, since another may hold it.
func TestTokenOfACallThatIsHandledAgain(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.pay(7, 8, 29) // so both know each other
	r.clean()
	b := *r.backUp(8)
	tokens := r.later(8)
	r.pay(7, 8, 30)
	r.real(8).cell.drop(r.real(8))
	r.hold = flowing(7, 8)
	r.restore(8, 300, b.Parts, b.Handled)
	r.hold = nil
	again := r.later(8)
	r.tick(int(2 * flow.ResendMost / tickPeriod))
	if len(*tokens) != 1 || len(*again) != 1 || (*tokens)[0] != (*again)[0] {
		t.Fatalf("tokens %v and %v: %q %q", *tokens, *again, r.avatar(8).Diary.Get(), r.avatar(7).Diary.Get())
	}
	if err := r.real(8).Answer((*tokens)[0], uint32(1), "one"); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	r.diary(7, "pay of 0.8: 1 left by one, user 30;")
	r.calm()
}

// What nobody answers in time is forgotten with the caller's time-out.
func TestOwedAnswerTimesOut(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	tokens := r.later(8)
	if err := r.cellOf(7, 8).Then("OnPaid", 0).Within(time.Second).Call("pay", 30); err != nil {
		t.Fatal(err)
	}
	r.tick(14)
	r.diary(7, "pay of 0.8: entity: no answer came in time;")
	if n, counted := r.real(8).owed.Len(), r.apps[1].count.Unanswered; n != 0 || counted != 1 {
		t.Errorf("%d answers are owed, %d were not given", n, counted)
	}
	if err := r.real(8).Answer((*tokens)[0], uint32(1), "late"); !errors.Is(err, entity.ErrAnswered) {
		t.Errorf("a late answer: %v", err)
	}
	r.calm()
}

// An entity that ends answers everybody that waits for it; so does one that nothing brings back.
func TestEndFailsOwedAnswers(t *testing.T) {
	r := newRig(t, 2)
	r.two()
	r.later(8)
	r.pay(7, 8, 30)
	r.pay(7, 8, 31)
	r.real(8).Destroy()
	r.tick(3)
	ended := "pay of 0.8: entity: there is no such entity;"
	r.diary(7, ended+ended)
	if err := r.real(7).Answer(5); !errors.Is(err, entity.ErrAnswered) {
		t.Errorf("%v", err)
	}
	r.clean()

	id, err := r.apps[1].cell.Spawn("Avatar", property.Vector3{X: 500}, property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.later(id)
	r.avatar(id).Diary.Set("")
	box := r.real(7).Mailbox(r.real(id).MailboxValue())
	if err := errors.Join(box.Then("OnPaid", 1).Call("pay", 1), box.Call("boom")); err != nil {
		t.Fatal(err)
	}
	r.tick(5)
	r.diary(7, "pay of 0.1001: entity: there is no such entity;")
}

// An own call is answered at once when its method says so, and not without end.
func TestOwnCallAnswersLater(t *testing.T) {
	r := newRig(t, 1)
	r.two()
	a, tokens := r.avatar(7), r.later(7)
	if err := a.Cell().Then("OnPaid", 5).Call("pay", 3); err != nil {
		t.Fatal(err)
	}
	r.diary(7, "pay 3 for 0.7;")
	if err := a.Answer((*tokens)[0], uint32(1), "itself"); err != nil {
		t.Fatal(err)
	}
	r.diary(7, "pay 3 for 0.7;pay of 0.7: 1 left by itself, user 5;")
	deep, hook := 0, a.hook
	var last error
	a.hook = func(a *Avatar, what string) {
		hook(a, what)
		if strings.HasPrefix(what, "pay of") {
			deep++
			if err := a.Cell().Then("OnPaid", 5).Call("pay", 3); err != nil {
				last = err
				return
			}
			if err := a.Answer((*tokens)[len(*tokens)-1], uint32(1), "itself"); err != nil {
				last = err
			}
		}
	}
	_ = a.Cell().Then("OnPaid", 5).Call("pay", 3)
	_ = a.Answer((*tokens)[len(*tokens)-1], uint32(1), "itself")
	if deep != maxNested || !errors.Is(last, entity.ErrTooMany) {
		t.Errorf("%d deep: %v", deep, last)
	}
}
