package flow

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// A cell part wishes for what only its base can ask the BaseAppMgr for. A wish is a two-way call of the
// own base, whose method no script has: the base itself answers it, with a Grant.
const (
	// WishForBase asks for a new base: Type, On and Props.
	WishForBase uint16 = 0xff00 + iota
	// WishForName asks for a name of the own base, WishForHolder who has a name: Name.
	WishForName
	WishForHolder
	wishEnds
)

// IsWish reports whether a method is of a wish.
func IsWish(method uint16) bool { return method >= WishForBase && method < wishEnds }

// Wish is the arguments of a wish.
type Wish struct {
	Name string
	// Type, On and Props say which base to make, and where; On is zero for the least loaded BaseApp.
	Type  uint16
	On    mercury.Address
	Props []byte // property.BaseStream, packed; aliases the input after Parse
}

func (m *Wish) code(c *codec.Coder) {
	c.String(&m.Name, limits.BaseName)
	c.U16(&m.Type)
	fields.Address(c, &m.On)
	c.Rest(&m.Props, MaxArguments)
}

// Append encodes m.
func (m *Wish) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Wish) Parse(b []byte) error { return parseWish(b, "wish", m.code) }

// Grant is the result of a wish: the base that was made, or that has the name.
type Grant struct {
	Name string
	// ID is 0 if there is no such base.
	ID   entity.ID
	Type uint16
	App  mercury.Address
	// Err says why the wish has not come true; nil if it has. Where it travels it keeps its text, and
	// which of the errors of a NameReply or a BaseReply it is.
	Err error
}

func (m *Grant) code(c *codec.Coder) {
	c.String(&m.Name, limits.BaseName)
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	fields.Address(c, &m.App)
	codec.Field(c, &m.Err, appendWhy, readWhy)
}

// Append encodes m.
func (m *Grant) Append(b []byte) []byte { return codec.Append(b, m.code) }

// Parse decodes m from all of b.
func (m *Grant) Parse(b []byte) error { return parseWish(b, "grant", m.code) }

// whys are the errors of a wish that keep their identity. Their places are codes of what is sent
// and saved, where 0 is no error and 1 is any other.
func whys() [6]error {
	return [...]error{2: entity.ErrTimeout, entity.ErrNoEntity, entity.ErrTooMany, entity.ErrGone}
}

// why is an error of a wish.
type why struct {
	is   error // one of whys, or nil
	text string
}

// Because is an error of a wish that has a text of its own. errors.Is says that it is another one.
func Because(is error, text string) error { return &why{is, text} }

// Error is the text that it had where it came from.
func (w *why) Error() string { return w.text }

// Unwrap is which error it is.
func (w *why) Unwrap() error { return w.is }

func appendWhy(b []byte, err error) []byte {
	if err == nil {
		return append(b, 0)
	}
	code := byte(1)
	for i, known := range whys() {
		if known != nil && errors.Is(err, known) {
			code = byte(i)
			break
		}
	}
	return codec.AppendString(append(b, code), cut(err.Error()))
}

func readWhy(r *codec.Reader) error {
	code := r.U8()
	if code == 0 {
		return nil
	}
	known := whys()
	if int(code) >= len(known) {
		r.Fail(codec.ErrValue)
		return nil
	}
	return &why{known[code], r.String(limits.ErrorText)}
}

func parseWish(b []byte, name string, code func(*codec.Coder)) error {
	if err := codec.Parse(b, code); err != nil {
		return fmt.Errorf("flow: %s: %w", name, err)
	}
	return nil
}
