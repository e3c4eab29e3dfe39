package baseapp

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
)

// gives makes a base answer its calls of give later, and notes their tokens.
func (r *rig) gives(from entity.ID) *[]entity.AnswerToken {
	tokens := new([]entity.AnswerToken)
	r.do["give 30 for "+from.String()] = func(v *avatar) {
		token, err := v.Later()
		if err != nil {
			r.t.Error(err)
		}
		*tokens = append(*tokens, token)
	}
	return tokens
}

// A base answers when its script says so, once: another base, and itself.
func TestBaseAnswersLater(t *testing.T) {
	r := joinedRig(t)
	a, v := r.spawn()
	b, w := r.spawn()
	tokens := r.gives(a)
	to := v.Lookup(b, "Avatar", entity.BaseMailbox)
	if err := errors.Join(to.Then("OnGift", 1).Call("give", 30), to.Then("OnGift", 2).Call("give", 30), to.Call("give", 30)); err != nil {
		t.Fatal(err)
	}
	if err := v.Lookup(a, "Avatar", entity.BaseMailbox).Then("OnGift", 3).Call("give", 30); err != nil {
		t.Fatal(err)
	}
	own := (*tokens)[0]
	r.tick()
	r.tick()
	if r.heard("give of") != 0 || len(*tokens) != 4 || (*tokens)[3] != 0 {
		t.Fatalf("%q, tokens %v", r.events, *tokens)
	}
	if _, err := w.Later(); !errors.Is(err, entity.ErrNoCall) {
		t.Errorf("no call: %v", err)
	}
	if err := w.Answer((*tokens)[1], "no number"); !errors.Is(err, entity.ErrArguments) {
		t.Errorf("what does not fit: %v", err)
	}
	if err := errors.Join(w.Answer((*tokens)[1], int32(5)), w.Fail((*tokens)[2], errors.New("no")), w.Answer(0), v.Answer(own, int32(6))); err != nil {
		t.Fatal(err)
	}
	r.tick()
	for _, want := range []string{"give of " + b.String() + ": 5, user 1", "give of " + b.String() + ": no", "give of " + a.String() + ": 6, user 3"} {
		if r.heard(want) != 1 {
			t.Errorf("%q: %d times in %q", want, r.heard(want), r.events)
		}
	}
	for _, err := range []error{w.Answer((*tokens)[1], int32(5)), w.Fail((*tokens)[2], errors.New("no")), v.Answer(own, int32(5))} {
		if !errors.Is(err, entity.ErrAnswered) {
			t.Errorf("a second answer: %v", err)
		}
	}
}

// A base that ends, also by a panic, fails what it has not answered.
func TestBaseEndFailsOwedAnswers(t *testing.T) {
	for name, end := range map[string]func(w *avatar){
		"destroyed":  func(w *avatar) { w.Destroy() },
		"panicked":   func(w *avatar) { w.note("boom") },
		"both parts": func(w *avatar) { w.note("boom"); w.Destroy() },
	} {
		r := joinedRig(t)
		a, v := r.spawn()
		b, w := r.spawn()
		r.gives(a)
		r.do["hidden"] = func(w *avatar) { end(w) }
		r.do["boom"] = func(*avatar) { panic("boom") }
		to := v.Lookup(b, "Avatar", entity.BaseMailbox)
		if err := errors.Join(to.Then("OnGift", 1).Call("give", 30), to.Then("OnGift", 2).Call("give", 30), to.Call("hidden")); err != nil {
			t.Fatal(err)
		}
		r.pass(time.Second)
		if n := r.heard("give of " + b.String() + ": " + entity.ErrNoEntity.Error()); n != 2 {
			t.Errorf("%s: %q", name, r.events)
		}
		if err := w.Answer(5, int32(1)); !errors.Is(err, entity.ErrGone) {
			t.Errorf("%s: it answers: %v", name, err)
		}
	}
}

// What a base has not answered is in its copies and goes on in its next life, and is forgotten when the
// caller does not wait any more.
func TestOwedAnswersOfARestoredBase(t *testing.T) {
	first := joinedRig(t)
	id, v := busy(t, first)
	tokens := first.gives(ofW)
	ask := func(n uint64, within time.Duration) *flow.Message {
		x := flow.ServerCall{Type: avatarType, Caller: ofW, CallerPart: entity.BasePart, Request: flow.RequestID{Life: 1, Number: n}, Within: within, Part: entity.BasePart, Args: []byte{30, 0, 0, 0}}
		for i, m := range v.Def().BaseMethods {
			if m.Name == "give" {
				x.Method = uint16(i)
			}
		}
		m := call(ofW, entity.BasePart, id, 1+n, ofW)
		m.Payload = x.Append(nil)
		return m
	}
	first.tell(appW, ask(1, time.Minute))
	first.tell(appW, ask(2, time.Second))
	if len(*tokens) != 2 {
		t.Fatalf("tokens %v", *tokens)
	}
	r := heir(t)
	if err := r.a.restore(&heritage{id: id, lives: 1, parts: first.a.byID[id].appendParts(nil)}); err != nil {
		t.Fatal(err)
	}
	w := r.script(id)
	r.pass(2 * time.Second)
	r.net.sent = nil
	if err := w.Answer((*tokens)[1], int32(1)); !errors.Is(err, entity.ErrAnswered) || r.a.report.Unanswered != 1 {
		t.Errorf("too late: %v, %d counted", err, r.a.report.Unanswered)
	}
	if err := w.Answer((*tokens)[0], int32(7)); err != nil {
		t.Fatal(err)
	}
	r.pass(time.Second)
	var a flow.Answer
	for _, m := range told[flow.Message](r, appW) {
		if m.To == ofW && flow.Payload(m.Payload[0]) == flow.AnswerPayload {
			if err := a.Parse(m.Payload[1:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a.Request.Number != 1 || a.Code != 0 || len(a.Results) != 4 || a.Results[0] != 7 {
		t.Errorf("answered %+v", a)
	}
}
