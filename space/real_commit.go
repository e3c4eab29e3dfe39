package space

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/migrate"
)

// MaxCommits bounds the backups that one real's script waits for, so that a script which asks in
// every callback gets an error before its list is long.
const MaxCommits = 64

// commit is a callback that waits for a backup:
//
//	Backup --> wanted --backup sent--> sent --settled by the base--> the callback
//	             ^                      |
//	             +----- restored -------+
//
// A copy from which the real is restored contains the commit beside the state that it is about. The base has
// that state, but perhaps nobody else has it yet. So a restored real asks for a backup once more.
type commit struct {
	method string
	user   int64
	number uint64 // of the backup in the flow to the base; 0 if none has been sent
}

// Backup has the entity backed up with the next tick, and calls the script's method of that name, a
// func (T) OnX(entity.Callback), once the base has the backup and other BaseApps have a copy of the
// base with it: from then on neither the death of a CellApp nor that of a BaseApp, nor both at
// once, undo what the script had done before it called Backup. Where nothing protects the base (see
// entity.Base.Backup), the base alone has it. That is the commit point of a trade: set the goods
// aside, back up, and hand them over in the callback. The callback's ID is 0.
//
// The callback travels with the entity. If the CellApp dies, the restored script gets it for each
// backup that the base had, once that is as safe, also if the former one got it already: so what it does must
// be the same when it is done again, for example a call with a number that its target knows to be a repeat.
// Without a restore by this backup there is none, since all is undone. Of an entity that is too large
// none is made, and Callback.Err is limits.ErrTooLarge.
//
// Errors are entity.ErrNoCallback, entity.ErrGone, entity.ErrNoPart for an entity without a base,
// which nothing restores, and entity.ErrTooMany beyond MaxCommits.
func (r *Real) Backup(method string, user int64) error {
	switch err := r.mayCallBack(method); {
	case err != nil:
		return err
	case r.e.Base.IsZero():
		return entity.ErrNoPart
	case len(r.commits) >= MaxCommits:
		return fmt.Errorf("%w: %d backups are waited for", entity.ErrTooMany, MaxCommits)
	}
	r.commits = append(r.commits, commit{method: method, user: user})
	r.backupAt = 0
	return nil
}

// commitsSent notes the number of the backup that has just been sent.
func (r *Real) commitsSent(number uint64) {
	for i := range r.commits {
		if c := &r.commits[i]; c.number == 0 {
			c.number = number
		}
	}
}

// awaitsBackup reports whether the next backup is one that the script waits for.
func (r *Real) awaitsBackup() bool {
	return slices.ContainsFunc(r.commits, func(c commit) bool { return c.number == 0 })
}

// commitsKept calls the callbacks of what the base has settled, in the order in which they were asked for. A
// callback may ask for more.
func (r *Real) commitsKept(base *peer) {
	if len(r.commits) == 0 || !r.own(base) {
		return
	}
	for r.gone == staying {
		i := slices.IndexFunc(r.commits, func(c commit) bool { return c.number != 0 && c.number < base.out.Low() })
		if i < 0 {
			return
		}
		c := r.commits[i]
		r.commits = slices.Delete(r.commits, i, i+1)
		r.callBack(c.method, entity.Callback{User: c.user})
	}
}

// appendCommitsPart appends the part of those that wait for a backup, if there are any.
func (r *Real) appendCommitsPart(b []byte) []byte {
	if len(r.commits) == 0 {
		return b
	}
	return migrate.AppendPart(b, migrate.CommitsPart, r.appendCommits)
}

func (r *Real) appendCommits(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(r.commits)))
	for _, c := range r.commits {
		b = codec.AppendString(b, c.method)
		b = binary.AppendVarint(b, c.user)
		b = binary.AppendUvarint(b, c.number)
	}
	return b
}

// readCommits reads what appendCommits wrote. A restored real asks for the backups again.
func (r *Real) readCommits(rd *codec.Reader, restoring bool) {
	r.commits = nil
	for range rd.Count(MaxCommits, 3) {
		c := commit{method: rd.String(script.MaxName), user: rd.Varint(), number: rd.Uvarint()}
		if restoring {
			c.number = 0
		}
		r.commits = append(r.commits, c)
	}
}
