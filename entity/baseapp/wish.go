package baseapp

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
)

// maxWishes bounds the wishes of the cell part that a base remembers: those without an answer, and the
// last ones that have one. A restored cell part says again what it had said because of a message of its
// base, and that is less.
const maxWishes = 256

// wish is one of the cell part, which is granted once however often it is said.
type wish struct {
	id      flow.RequestID
	granted bool
	grant   flow.Grant
}

// takeWish grants a wish of the own cell part.
func (b *base) takeWish(x *flow.ServerCall) error {
	var w flow.Wish
	if err := w.Parse(x.Args); err != nil {
		return err
	}
	if i := slices.IndexFunc(b.wishes, func(w wish) bool { return w.id == x.Request }); i >= 0 {
		b.app.report.Repeats++
		if b.wishes[i].granted {
			return b.answerWish(x.Request, &b.wishes[i].grant)
		}
		return nil
	}
	if len(b.wishes) >= maxWishes {
		i := slices.IndexFunc(b.wishes, func(w wish) bool { return w.granted })
		if i < 0 {
			return b.answerWish(x.Request, &flow.Grant{Name: w.Name, Err: fmt.Errorf("%w: %d wishes wait already", entity.ErrTooMany, maxWishes)})
		}
		b.wishes = slices.Delete(b.wishes, i, i+1)
	}
	id := x.Request
	b.wishes = append(b.wishes, wish{id: id})
	if err := b.grantWish(x.Method, &w, func(g *flow.Grant) { b.granted(id, g) }); err != nil {
		b.granted(id, &flow.Grant{Name: w.Name, Err: err})
	}
	return nil
}

func (b *base) grantWish(method uint16, w *flow.Wish, done func(*flow.Grant)) error {
	a := b.app
	d := a.cfg.Schema.ByID(w.Type)
	switch {
	case b.destroying:
		return entity.ErrGone
	case method == flow.WishForBase && (d == nil || !d.HasBase):
		return errNoSuchType
	case method == flow.WishForBase && len(w.Props) > wire.MaxBaseProps:
		return fmt.Errorf("baseapp: %d bytes of properties, at most %d travel", len(w.Props), wire.MaxBaseProps)
	case method == flow.WishForBase:
		return a.haveBaseMade(w.On, w.Type, slices.Clone(w.Props), done)
	case w.Name == "":
		return fmt.Errorf("baseapp: a name has 1 to %d bytes", limits.BaseName)
	case method == flow.WishForName:
		return b.register(w.Name, done)
	}
	return a.lookUp(w.Name, done)
}

// granted remembers a grant, and tells the cell part.
func (b *base) granted(id flow.RequestID, g *flow.Grant) {
	if i := slices.IndexFunc(b.wishes, func(w wish) bool { return w.id == id }); i >= 0 {
		b.wishes[i].granted, b.wishes[i].grant = true, *g
	}
	if err := b.answerWish(id, g); err != nil {
		b.app.refused("a grant that nobody wishes for any more", "entity", b.id, "error", err)
	}
}

func (b *base) answerWish(id flow.RequestID, g *flow.Grant) error {
	if b.removed {
		return entity.ErrGone
	}
	var r script.Results
	a := r.Answer(id, nil)
	a.Results = g.Append(nil)
	return b.sendCell(a.Append(b.app.payload[:0]))
}
