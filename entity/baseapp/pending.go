package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/script"
)

// question is what a script waits for an answer to.
type question uint8

const (
	questionSpace question = 1 + iota // CreateSpace
	questionBase                      // CreateBase
	questionName                      // RegisterName, LookupName
	questionStore                     // QueryStore
	lastQuestion  = questionStore
)

// pending is a question of the script to a manager that has no answer yet. The app asks, and the answer
// finds the base only here: a base that is restored elsewhere is told that it will get none.
type pending struct {
	what    question
	request uint64 // the app's number of it, by which the answer finds it; scripts do not see it
	method  string
	user    int64 // comes back in the reply
	name    string
}

// maxPending bounds what one base carries. Beyond it the base asks all the same, and is not told if it
// should be restored before the answer comes.
const maxPending = 1024

func (b *base) await(p pending) {
	if len(b.pending) < maxPending {
		b.pending = append(b.pending, p)
	}
}

// answered forgets a question.
func (b *base) answered(what question, request uint64) {
	b.pending = slices.DeleteFunc(b.pending, func(p pending) bool { return p.what == what && p.request == request })
}

// errForgotten is the answer to what a former life of a base had asked for.
var errForgotten = flow.Because(entity.ErrTimeout, "baseapp: the base has been restored since it asked; what it asked for may have been done")

// tellForgotten answers the questions of a base's former life.
func (b *base) tellForgotten() {
	list := b.pending
	b.pending = nil
	for _, p := range list {
		if !b.hears() {
			return
		}
		switch p.what {
		case questionSpace:
			callBack(b, p.method, entity.SpaceReply{User: p.user, Err: errForgotten})
		case questionBase:
			callBack(b, p.method, entity.BaseReply{User: p.user, Err: errForgotten})
		case questionName:
			callBack(b, p.method, entity.NameReply{User: p.user, Name: p.name, Err: errForgotten})
		case questionStore:
			callBack(b, p.method, stored.Page{User: p.user, Err: &stored.Error{Code: stored.Busy, Reason: errForgotten.Error()}})
		}
	}
}

func (p *pending) code(c *codec.Coder) {
	codec.Enum(c, &p.what, questionSpace, lastQuestion)
	c.Uvarint(&p.request)
	c.String(&p.method, script.MaxName)
	c.Varint(&p.user)
	c.String(&p.name, limits.BaseName)
}
