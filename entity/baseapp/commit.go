package baseapp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/script"
)

// MaxCommits bounds the backups that one base's script waits for, as space.MaxCommits does for reals.
const MaxCommits = 64

// commit is a callback that waits for a copy of the base:
//
//	Backup --> wanted --copy sent--> sent --all holders have it--> the callback
//	              ^                    |
//	              +-- another life ----+
type commit struct {
	method string
	user   int64
	number uint64 // of the copy; 0 if none was sent, and kept if the holders have it
}

const kept = math.MaxUint64

// Backup is part of entity.Base's host.
func (b *base) Backup(method string, user int64) error {
	switch err := script.CheckCallback[entity.Callback](b.kind, method); {
	case b.destroying:
		return entity.ErrGone
	case err != nil:
		return err
	case len(b.commits) >= MaxCommits:
		return fmt.Errorf("%w: %d backups are waited for", entity.ErrTooMany, MaxCommits)
	}
	b.commits = append(b.commits, commit{method: method, user: user})
	b.backupSoon()
	return nil
}

// commitsSent notes the number of the copy that has just been sent.
func (b *base) commitsSent(number uint64) {
	for i := range b.commits {
		if c := &b.commits[i]; c.number == 0 {
			c.number = number
		}
	}
}

// commitsKept notes up to which copy the holders have them.
func (b *base) commitsKept(number uint64) {
	for i := range b.commits {
		if c := &b.commits[i]; c.number != 0 && c.number <= number {
			c.number = kept
		}
	}
}

// runCommits calls the callbacks of what others have a copy of, in the order in which they were asked for.
// Where nothing protects bases, nothing is waited for; a base of which no copy can be made is told so.
func (b *base) runCommits() {
	for !b.removed && !b.destroying {
		i := slices.IndexFunc(b.commits, func(c commit) bool { return c.number == kept || !b.protected() })
		if i < 0 {
			return
		}
		c := b.commits[i]
		b.commits = slices.Delete(b.commits, i, i+1)
		callBack(b, c.method, entity.Callback{User: c.user, Err: b.unkept()})
	}
}

// unkept says why there is no copy of a base, though there are others who would hold one.
func (b *base) unkept() error {
	switch c := &b.copied; {
	case !b.app.protected() || b.uncopied():
		return nil
	case c.large:
		return limits.ErrTooLarge
	case c.roomless:
		return errRoomless
	}
	return nil
}

var errRoomless = errors.New("baseapp: no other BaseApp has room for a copy of the base")

func (c *commit) code(x *codec.Coder) {
	x.String(&c.method, script.MaxName)
	x.Varint(&c.user)
	x.Uvarint(&c.number)
}
