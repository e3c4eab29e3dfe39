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

// The spaces that a controlled stop keeps are blobs, one each. They begin with the start of the cluster that
// wrote them: those of the newest start are the world, and the others are what is left of earlier ones.
//
//	KeepSpace --> waiting --one at a time--> written --> SpaceKept
//	                 ^                          |
//	                 +--- again, by the manager-+ ErrRetry
const (
	spacePrefix = "space/"

	// maxSpacesWaiting bounds the spaces that wait to be written: the manager sends a few at a time.
	maxSpacesWaiting = 64
)

// spaces are those that wait to be written.
type spaces struct {
	waiting []wire.KeepSpace
	writing bool // the first of them
}

// keepSpace takes a space to be kept.
func (d *DBApp) keepSpace(_ sender, m *wire.KeepSpace) error {
	s := &d.spaces
	switch {
	case !d.manager.Heeds():
		return errOutdated
	case slices.ContainsFunc(s.waiting, func(x wire.KeepSpace) bool { return x.Space == m.Space }):
		return nil // it is being written
	case len(s.waiting) >= maxSpacesWaiting:
		return fmt.Errorf("dbapp: %d spaces wait to be written", len(s.waiting)) // it is sent again
	}
	x := *m
	x.Info, x.Data = slices.Clone(m.Info), slices.Clone(m.Data)
	for i := range x.Data {
		x.Data[i].Value = slices.Clone(x.Data[i].Value)
	}
	s.waiting = append(s.waiting, x)
	d.writeSpace()
	return nil
}

// writeSpace writes the first that waits.
func (d *DBApp) writeSpace() {
	s := &d.spaces
	if s.writing || len(s.waiting) == 0 || d.start == 0 {
		return
	}
	s.writing = true
	x, start, db, limit := s.waiting[0], d.start, d.cfg.Store, d.cfg.Limit
	d.cfg.Jobs.Do(spaceToken, func(ctx context.Context) any {
		ctx, cancel := limit(ctx)
		defer cancel()
		return putSpace(ctx, db, start, &x)
	})
}

// putSpace replaces the blob of a space.
func putSpace(ctx context.Context, s store.Store, start uint64, x *wire.KeepSpace) error {
	key, version := spaceKey(x.Space), uint64(0)
	switch b, err := s.Get(ctx, key); {
	case err == nil:
		version = b.Version
	case !errors.Is(err, store.ErrMissing):
		return err
	}
	_, err := s.Put(ctx, key, append(binary.AppendUvarint(nil, start), x.Blob()...), version)
	return err
}

func spaceKey(id entity.SpaceID) string { return fmt.Sprintf("%s%010d", spacePrefix, uint32(id)) }

// spaceKept takes the result of a write. What may succeed later is left for the manager to say again.
func (d *DBApp) spaceKept(result any) {
	s := &d.spaces
	x := s.waiting[0]
	s.waiting = slices.Delete(s.waiting, 0, 1)
	s.writing = false
	err, failed := result.(error)
	switch {
	case failed && errors.Is(err, store.ErrRetry):
		d.report.Errors++
		d.log.Warn("a space is not kept yet", "space", x.Space, "error", err)
	default:
		m := wire.SpaceKept{Stop: x.Stop, Space: x.Space}
		if failed {
			d.report.Errors++
			m.Reason = err.Error()[:min(len(err.Error()), wire.MaxReason)]
		}
		d.manager.Send(&m)
	}
	d.writeSpace()
}
