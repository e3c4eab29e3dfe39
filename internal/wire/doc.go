// Package wire has the messages between the processes of a cluster, one file for each receiver.
// Messages of a protocol of their own live with it (flows in entity/flow, ghost messages in ghost,
// handoffs in migrate); wire gives them their ids.
//
// One table says of every message what it is, which role sends it and which takes it. [May] looks
// it up, and each process refuses what its sender may not send. To add a message, give it an id and
// a row in table.go, a sample in the tests, and a handler among the routes of the app that takes
// it.
//
// A mercury message between processes is one wire message:
//
//	+----+------+
//	| id | body |
//	+----+------+
//
// Only processes of one [Version] share a cluster. Their first message says which versions they speak, in a
// place that never moves, and a golden file of all messages fails when one changes and the version does not.
//
// Ids are unique over all receivers, so a message that reaches the wrong kind of process is
// recognised and counted, never misread. Bodies are parsed with named bounds, so that even a
// process of the same cluster cannot make another allocate without limit.
package wire

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/enum"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// ErrMalformed is wrapped by every parse error of this package.
var ErrMalformed = errors.New("wire: malformed message")

// ID says what a message is.
type ID uint8

// Role is a kind of process.
type Role uint8

// The processes of a cluster, and those who watch it.
const (
	CellAppMgr Role = 1 + iota
	CellApp
	BaseAppMgr
	BaseApp
	LoginApp
	DBApp
	Observer
)

// String returns the role's usual name.
func (r Role) String() string {
	return enum.Name(r, "role", []string{
		CellAppMgr: status.RoleCellAppMgr,
		CellApp:    status.RoleCellApp,
		BaseAppMgr: status.RoleBaseAppMgr,
		BaseApp:    status.RoleBaseApp,
		LoginApp:   status.RoleLoginApp,
		DBApp:      status.RoleDBApp,
		Observer:   "observer",
	})
}

// Message is a body that can append itself.
type Message interface{ Append(b []byte) []byte }

// Received is a message that can be parsed. It is used again and again, so the result of Parse must
// not depend on what was parsed before.
type Received interface {
	Message
	Parse(body []byte) error
}

// Call is a question, or the answer to one: both carry the number of the call, which is the asker's.
// The table says which message answers a question.
type Call interface {
	Received
	Call() *uint64
}

// Split separates a message into id and body.
func Split(msg []byte) (ID, []byte, error) {
	if len(msg) == 0 {
		return 0, nil, fmt.Errorf("%w: empty", ErrMalformed)
	}
	return ID(msg[0]), msg[1:], nil
}

func done(r *codec.Reader, name string) error {
	return r.CloseAs(ErrMalformed, name)
}

// parse reads a message by its code method.
func parse(body []byte, m Received, code func(*codec.Coder)) error {
	return codec.ParseAs(ErrMalformed, body, m, code)
}

func codeRole(c *codec.Coder, v *Role) { codec.Enum(c, v, CellAppMgr, Observer) }
