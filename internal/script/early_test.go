package script

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Calls come out in their order, those to one service apart from those to another.
func TestEarly(t *testing.T) {
	var e Early[int]
	chat, mail := &property.Definition{Name: "Chat"}, &property.Definition{Name: "Mail"}
	args := []byte{7}
	for i := range 6 {
		d := chat
		if i%3 == 2 {
			d = mail
		}
		if err := e.Add(EarlyCall[int]{Part: i, Call: entity.Request{Def: d, Args: args}}); err != nil {
			t.Fatal(err)
		}
	}
	args[0] = 8
	take := func(d *property.Definition) (text string) {
		for _, c := range e.Take(func(x *property.Definition) bool { return x == d }) {
			text += fmt.Sprintf("%d%v ", c.Part, c.Call.Args)
		}
		return text
	}
	if got := take(chat); got != "0[7] 1[7] 3[7] 4[7] " || e.Waits(chat) || !e.Waits(mail) || e.Len() != 2 {
		t.Errorf("to the chat there were %s", got)
	}
	if got := take(mail); got != "2[7] 5[7] " || e.Len() != 0 || e.bytes != 0 {
		t.Errorf("to the mail there were %s", got)
	}
}

func TestEarlyBounds(t *testing.T) {
	d := &property.Definition{Name: "Chat"}
	for name, c := range map[string]struct{ bytes, want int }{"calls": {0, MaxEarly}, "bytes": {MaxEarlyBytes / 10, 10}} {
		var e Early[int]
		var err error
		for err == nil && e.Len() <= MaxEarly {
			err = e.Add(EarlyCall[int]{Call: entity.Request{Def: d, Args: make([]byte, c.bytes)}})
		}
		if !errors.Is(err, entity.ErrFull) || e.Len() != c.want {
			t.Errorf("%s: %d wait, then %v", name, e.Len(), err)
		}
		if n := len(e.Take(func(*property.Definition) bool { return true })); n != c.want || e.bytes != 0 {
			t.Errorf("%s: %d come out, and %d bytes stay", name, n, e.bytes)
		}
	}
}
