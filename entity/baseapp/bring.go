package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/wire"
)

// Entities of the types of Config.BringBack that live when the world ends, by a stop or by a crash, come back
// when it starts: the DBApp finds their rows, which are marked as long as they live, and has each loaded on
// some BaseApp.
//
//	BringBack --> loading --> OnCreated --> OnBroughtBack, or else the cell part is made where it stood
//	                 |                          --> BroughtBack
//	                 +--- BroughtBack with the reason

// bringsBack reports whether bases of the type come back, so that rows of those that live are marked.
func (b *base) bringsBack() bool {
	return !b.keep.ending && slices.Contains(b.app.cfg.BringBack, b.keep.typ.Name)
}

// takeBringBack loads an entity that is to live again.
func (a *BaseApp) takeBringBack(from sender, m *wire.BringBack) {
	what, request, ch := stored.Key{Type: m.Type, Row: m.Row}, m.Request, from.ch
	if slices.ContainsFunc(a.storing.loads, func(l *loading) bool { return !l.ended && l.what == what }) {
		return // asked again: the answer that comes is as good as none, and the next one says that it lives
	}
	answer := func(code stored.Code, reason string) {
		a.links.Reply(ch, &wire.BroughtBack{Request: request, Code: code, Reason: reason[:min(len(reason), wire.MaxReason)]})
	}
	err := a.load(what, false, nil, func(b *base, err *stored.Error) {
		if err != nil {
			answer(err.Code, err.Reason)
			return
		}
		b.comeBack()
		answer(stored.Done, "")
	})
	if err != nil {
		answer(stored.Busy, err.Error())
	}
}

// comeBack tells the script, or makes the cell part where it stood unless the script has made one.
func (b *base) comeBack() {
	if b.removed || b.destroying {
		return
	}
	if _, decides := b.value.Interface().(Returner); decides {
		callHook(b, "OnBroughtBack", func(s Returner) { s.OnBroughtBack() })
		return
	}
	at, known := b.Stood()
	if !known || !b.props.Definition().HasCell || b.link.State() != linkNone || b.creation != nil {
		return
	}
	if err := b.CreateCell(at.Space, at.Position, at.Direction, nil); err != nil {
		b.app.fault("the cell part cannot be made where it stood", "entity", b.id, "error", err)
	}
}
