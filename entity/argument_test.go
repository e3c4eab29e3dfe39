package entity

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/property"
)

// lending is a caller that makes a call within each call, and keeps what the arguments of the outer one
// were after it.
type lending struct {
	buffer argument.Buffer
	box    Mailbox
	depth  int
	got    []string
}

func (l *lending) ArgumentBuffer() *argument.Buffer { return &l.buffer }

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
}

// A call with more bytes of arguments than its method should have is told of, and made.
func TestLargeCall(t *testing.T) {
	say := &property.Method{Name: "say", WarnBytes: 6, Args: []property.Arg{{Type: property.Scalar(property.KindString)}}}
	free := &property.Method{Name: "free", Args: say.Args}
	s, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasBase: true, CellMethods: []*property.Method{say, free}})
	if err != nil {
		t.Fatal(err)
	}
	l := &lending{depth: 3}
	var large []string
	l.buffer.Large = func(d *property.Definition, m *property.Method, bytes int) {
		large = append(large, fmt.Sprint(d.Name, ".", m.Name, " ", bytes))
	}
	box := Mailbox{ID: 1, Kind: CellMailbox, Def: s.Types[0], Via: l}
	for method, text := range map[string]string{"say": "small", "free": "much larger"} {
		if err := box.Call(method, text); err != nil {
			t.Error(err)
		}
	}
	if err := box.Call("say", "larger"); err != nil || len(l.got) != 3 {
		t.Errorf("%v, %d calls", err, len(l.got))
	}
	if got := strings.Join(large, ", "); got != "A.say 7" {
		t.Errorf("told of %q", got)
	}
}
