package entity

import (
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// lending is a Caller that makes a call within each call, and keeps what the arguments of the outer one
// were after it.
type lending struct {
	buffer ArgumentBuffer
	box    Mailbox
	depth  int
	got    []string
}

func (l *lending) ArgumentBuffer() *ArgumentBuffer { return &l.buffer }

func (l *lending) CallMethod(q Request) error {
	if l.depth++; l.depth < 3 {
		if err := l.box.Call("say", []string{"", "inner", "innermost"}[l.depth]); err != nil {
			return err
		}
		if err := l.box.Call("say", 5); !errors.Is(err, ErrArguments) {
			return errors.New("a number is not refused")
		}
	}
	l.got = append(l.got, string(q.Args[1:]))
	return nil
}

func TestArgumentBuffer(t *testing.T) {
	say := &property.Method{Name: "say", Args: []property.Arg{{Type: property.Scalar(property.KindString)}}}
	s, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasBase: true, CellMethods: []*property.Method{say}})
	if err != nil {
		t.Fatal(err)
	}
	l := new(lending)
	l.box = Mailbox{ID: 1, Kind: CellMailbox, Def: s.Types[0], Via: l}
	if err := l.box.Call("say", "outer"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(l.got, " "); got != "innermost inner outer" {
		t.Errorf("%q", got)
	}
	if len(l.buffer.taken) != 0 {
		t.Errorf("%d bytes are still taken", len(l.buffer.taken))
	}
	if l.depth = 3; l.box.Call("say", strings.Repeat("z", maxIdleBuffer)) != nil || l.buffer.taken != nil {
		t.Errorf("%d bytes are kept", cap(l.buffer.taken))
	}
}
