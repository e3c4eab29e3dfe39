package dbapp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/wire"
)

// The spaces of the world are blobs, one each, which begin with the start of the cluster that wrote
// them. Those of another start than this one come back at its begin; until the manager has been
// told of them all, none is written or removed. If the world is stopped before, those that have not
// come back stay.
//
//	KeepSpace --> waiting --one at a time--> written, removed --> SpaceKept, OnlyKept
//	KeepOnly         ^                          |
//	                 +--- again, by the manager-+ the store fails
const (
	spacePrefix = "space/"

	// maxSpacesWaiting bounds the spaces that wait to be written: the manager sends a few at a time.
	maxSpacesWaiting = 64
)

// spaces are those that wait to be written, and what is to be removed.
type spaces struct {
	waiting []wire.KeepSpace
	only    *wire.KeepOnly // what is to be left; nil if nothing is to be done
	working bool           // a job is under way, for the first that waits unless it removes
	stored  []string       // the keys of the blobs of this world, in their order
}

// keepSpace takes a space to be kept.
func (d *DBApp) keepSpace(_ sender, m *wire.KeepSpace) error {
	s := &d.spaces
	i := slices.IndexFunc(s.waiting, func(x wire.KeepSpace) bool { return x.Space == m.Space })
	switch {
	case !d.manager.Heeds():
		return errOutdated
	case i == 0 && s.working:
		return nil // it is being written; what it is now is said again
	case i < 0 && len(s.waiting) >= maxSpacesWaiting:
		return fmt.Errorf("dbapp: %d spaces wait to be written", len(s.waiting)) // it is sent again
	}
	x := *m
	x.Info, x.Data = slices.Clone(m.Info), slices.Clone(m.Data)
	for i := range x.Data {
		x.Data[i].Value = slices.Clone(x.Data[i].Value)
	}
	if i < 0 {
		s.waiting = append(s.waiting, x)
	} else {
		s.waiting[i] = x
	}
	d.writeSpaces()
	return nil
}

// keepOnly takes the list of the spaces that live.
func (d *DBApp) keepOnly(_ sender, m *wire.KeepOnly) error {
	if !d.manager.Heeds() {
		return errOutdated
	}
	d.spaces.only = &wire.KeepOnly{Number: m.Number, Spaces: slices.Clone(m.Spaces)}
	d.writeSpaces()
	return nil
}

// writeSpaces writes the first space that waits, or removes what is not to be left.
func (d *DBApp) writeSpaces() {
	s := &d.spaces
	left := d.bring.state == bringSpaces // some have yet to come back
	if s.working || d.bring.state < bringSpaces || left && !d.stops() {
		return
	}
	start := d.start
	switch {
	case len(s.waiting) > 0:
		x := s.waiting[0]
		d.spaceJob(func(ctx context.Context, db store.Store) any { return putSpace(ctx, db, start, &x) })
	case s.only != nil && left:
		d.manager.Send(&wire.OnlyKept{Number: s.only.Number})
		s.only = nil
	case s.only != nil:
		m := s.only
		s.only = nil
		surplus := s.surplus(m.Spaces)
		d.spaceJob(func(ctx context.Context, db store.Store) any { return removeSpaces(ctx, db, m.Number, surplus) })
	}
}

func (d *DBApp) spaceJob(f func(context.Context, store.Store) any) {
	d.spaces.working = true
	d.storeJob(spaceToken, f)
}

// surplus are the keys of the blobs of all other spaces.
func (s *spaces) surplus(living []entity.SpaceID) (keys []string) {
	for _, id := range living {
		keys = append(keys, spaceKey(id))
	}
	slices.Sort(keys)
	return slices.DeleteFunc(slices.Clone(s.stored), func(key string) bool {
		_, lives := slices.BinarySearch(keys, key)
		return lives
	})
}

// leave takes a space out of this world that could not come back, so that its blob is not removed: a
// configuration that leaves it out may be a mistake, which the next start mends.
func (s *spaces) leave(id entity.SpaceID) {
	if i, found := slices.BinarySearch(s.stored, spaceKey(id)); found {
		s.stored = slices.Delete(s.stored, i, i+1)
	}
}

// spacePut is the result of the job that writes a space, spacesRemoved that of one that removes some.
type spacePut struct {
	key string
	err error
}

type spacesRemoved struct {
	number uint64
	keys   []string
	err    error
}

// putSpace replaces the blob of a space.
func putSpace(ctx context.Context, s store.Store, start uint64, x *wire.KeepSpace) spacePut {
	key, version := spaceKey(x.Space), uint64(0)
	switch b, err := s.Get(ctx, key); {
	case err == nil:
		version = b.Version
	case !errors.Is(err, store.ErrMissing):
		return spacePut{key, err}
	}
	_, err := s.Put(ctx, key, append(binary.AppendUvarint(nil, start), x.Blob()...), version)
	return spacePut{key, err}
}

// removeSpaces removes blobs, up to the first that cannot be.
func removeSpaces(ctx context.Context, s store.Store, number uint64, keys []string) spacesRemoved {
	for i, key := range keys {
		b, err := s.Get(ctx, key)
		if err == nil {
			err = s.Remove(ctx, key, b.Version)
		}
		if err != nil && !errors.Is(err, store.ErrMissing) {
			return spacesRemoved{number, keys[:i], err}
		}
	}
	return spacesRemoved{number, keys, nil}
}

func spaceKey(id entity.SpaceID) string { return fmt.Sprintf("%s%010d", spacePrefix, uint32(id)) }

// spacesDone takes the result of a job. What may succeed later is left for the manager to say again.
func (d *DBApp) spacesDone(result any) {
	s := &d.spaces
	s.working = false
	switch r := result.(type) {
	case spacePut:
		x := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		if i, found := slices.BinarySearch(s.stored, r.key); !found && r.err == nil {
			s.stored = slices.Insert(s.stored, i, r.key)
		}
		if reason, done := d.spaceFault("a space is not kept yet", r.err); done {
			d.manager.Send(&wire.SpaceKept{Number: x.Number, Space: x.Space, Reason: reason})
		}
	case spacesRemoved:
		s.stored = slices.DeleteFunc(s.stored, func(key string) bool {
			_, gone := slices.BinarySearch(r.keys, key)
			return gone
		})
		if reason, done := d.spaceFault("spaces that have ended are not forgotten yet", r.err); done {
			d.manager.Send(&wire.OnlyKept{Number: r.number, Reason: reason})
		}
	}
	d.writeSpaces()
}

// spaceFault counts an error. It returns what the manager is told, and false if it is to ask again.
func (d *DBApp) spaceFault(what string, err error) (reason string, done bool) {
	d.noteStore(writings, err)
	if err == nil {
		return "", true
	}
	d.report.Errors++
	if ofTheStore(err) {
		if unlogged, ok := d.lines.Allow(d.now, "spaces"); ok {
			d.log.Warn(what, "error", err, "unlogged", unlogged)
		}
		return "", false
	}
	return err.Error()[:min(len(err.Error()), wire.MaxReason)], true
}
