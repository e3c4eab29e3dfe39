package keep

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space/recording"
)

// Recording is one recording: the logs of all cells.
type Recording struct {
	Space  entity.SpaceID
	Number uint64
	Label  string
	Logs   []*recording.Log

	files []*os.File
}

// Find returns the recordings in a directory, ordered by space and number. Close each. A file that is
// no log is an error, which names it; the recordings of the others are returned with it.
func Find(dir string) ([]*Recording, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+Extension))
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	slices.Sort(paths)
	var found []*Recording
	var faults []error
	for _, path := range paths {
		f, l, err := open(path)
		if err != nil {
			faults = append(faults, fmt.Errorf("keep: %s: %w", path, err))
			continue
		}
		r := into(&found, l)
		r.Logs, r.files = append(r.Logs, l), append(r.files, f)
	}
	slices.SortFunc(found, func(a, b *Recording) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Label, b.Label))
	})
	return found, errors.Join(faults...)
}

// into returns the recording that a log is of.
func into(found *[]*Recording, l *recording.Log) *Recording {
	for _, r := range *found {
		if r.Space == l.Space && r.Number == l.Number && r.Label == l.Label {
			return r
		}
	}
	r := &Recording{Space: l.Space, Number: l.Number, Label: l.Label}
	*found = append(*found, r)
	return r
}

func open(path string) (*os.File, *recording.Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var l *recording.Log
		if l, err = readLog(f, info.Size()); err == nil {
			return f, l, nil
		}
	}
	return nil, nil, errors.Join(err, f.Close())
}

// Close closes the files. The logs cannot be read any more.
func (r *Recording) Close() error {
	var faults []error
	for _, f := range r.files {
		faults = append(faults, f.Close())
	}
	return errors.Join(faults...)
}
