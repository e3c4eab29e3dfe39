package space

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

// wishPatience is how long a wish may take, in game time: managers restart, and a BaseApp that is away
// is waited for. Afterwards the script is told that no answer came; what it wished for may still come
// true.
const wishPatience = time.Minute

// CreateBase asks for a new base of an entity, on a BaseApp that info names or on the least loaded one.
// It returns at once. Later the script's method of that name, a func (T) OnX(entity.BaseReply), is told
// of the base, or why there is none; user comes back in it. The entity's own base asks, so an entity
// without one gets entity.ErrNoPart. Other errors are entity.ErrNoCallback, entity.ErrGone,
// entity.ErrFull, and that of a type which has no base.
func (r *Real) CreateBase(info entity.BaseInfo, method string, user int64) error {
	d := r.cell.scripts.Schema().Type(info.Type)
	if d == nil || !d.HasBase {
		return fmt.Errorf("space: create base: there is no entity type %q with a base part", info.Type)
	}
	if err := script.CheckCallback[entity.BaseReply](r.kind, method); err != nil {
		return err
	}
	props := property.NewValues(d, property.BaseSide, nil)
	if info.Init != nil {
		info.Init(props)
	}
	w := flow.Wish{Type: d.ID, On: info.On, Props: r.cell.compressor.AppendStream(nil, props, property.BaseStream, flow.MaxArguments)}
	return r.wish(flow.WishForBase, &w, method, user)
}

// RegisterName gives the entity's base a name that no other base of the cluster has, as
// entity.Base.RegisterName does. The answer is told to the script's method of that name, a func (T)
// OnX(entity.NameReply). Errors are those of CreateBase.
func (r *Real) RegisterName(name, method string, user int64) error {
	return r.wishName(flow.WishForName, name, method, user)
}

// LookupName asks which base of the cluster has a name, as entity.Base.LookupName does. The answer is
// told to the script's method of that name, a func (T) OnX(entity.NameReply). Errors are those of
// CreateBase.
func (r *Real) LookupName(name, method string, user int64) error {
	return r.wishName(flow.WishForHolder, name, method, user)
}

func (r *Real) wishName(what uint16, name, method string, user int64) error {
	if name == "" || len(name) > limits.BaseName {
		return fmt.Errorf("space: a name of %d bytes; names have 1 to %d", len(name), limits.BaseName)
	}
	if err := script.CheckCallback[entity.NameReply](r.kind, method); err != nil {
		return err
	}
	return r.wish(what, &flow.Wish{Name: name}, method, user)
}

func (r *Real) wish(what uint16, w *flow.Wish, method string, user int64) error {
	switch {
	case r.gone != staying:
		return entity.ErrGone
	case r.e.Base.IsZero():
		return entity.ErrNoPart
	}
	args := w.Append(nil)
	if len(args) > flow.MaxArguments {
		return fmt.Errorf("%w: %d bytes, at most %d are sent", entity.ErrArguments, len(args), flow.MaxArguments)
	}
	return r.sendCall(r.base(), &entity.Request{
		To: r.e.ID, Kind: entity.BaseMailbox, Def: r.e.Def, Method: int(what), Args: args, OnReply: method, User: user, Within: wishPatience,
	}, flow.RequestID{})
}

// tellGrant tells the script what became of a wish: by an answer, or by err.
func (r *Real) tellGrant(x *script.Waiting, a *flow.Answer, err error) {
	var g flow.Grant
	if a != nil && err == nil {
		if err = a.Err(); err == nil {
			err = g.Parse(a.Results)
		}
	}
	if err != nil {
		g = flow.Grant{Name: g.Name, Err: err}
	}
	var holder property.Mailbox
	if g.ID != 0 {
		m := entity.Mailbox{ID: g.ID, Kind: entity.BaseMailbox, Def: r.cell.scripts.Schema().ByID(g.Type), At: g.App.At, Salt: g.App.Salt}
		holder = m.Value()
	}
	err = nil // a panic leaves it so
	r.guard(x.Callback, func() {
		if x.Method == flow.WishForBase {
			err = script.CallBack(r.kind, r.script, x.Callback, entity.BaseReply{User: x.User, Base: holder, Err: g.Err})
			return
		}
		err = script.CallBack(r.kind, r.script, x.Callback, entity.NameReply{User: x.User, Name: g.Name, Holder: holder, Err: g.Err})
	})
	if err != nil {
		r.cell.count.Errors++
		r.Log().Error("no method of this name for an answer", "error", err)
	}
}
