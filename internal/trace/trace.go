// Package trace follows a few entities through the processes of a world: one line of the log for
// each step of their lives, with the same attributes everywhere, so that the logs of several
// processes can be sorted into one story.
//
//	msg="entity trace" step="offload out" entity=2048.1 type=Avatar order=1.4 at=12.3s space=1 to=10.0.0.1:7#2
//	msg="entity trace" step="offload in"  entity=2048.1 type=Avatar order=1.5 at=12.4s space=1 from=10.0.0.1:6#9
//
// order is the incarnation and the hop of the real, which rise over its whole life, and at is the
// time of the cluster, which the processes have in common.
//
// Of is asked first, so that a process that traces nothing does nothing for it:
//
//	if t.Of(id) {
//		t.Step(...)
//	}
//
// A Trace belongs to the goroutine of its process.
package trace

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// Path is the setting of each process with entities. At the CellAppMgr it sets that of all of them.
const Path = "trace/entities"

// Message is the message of each line.
const Message = "entity trace"

// MaxTraced bounds the entities that a process traces: their stories are for people to read, and
// the text of all their ids fits a value.
const MaxTraced = 32

// Trace is which entities a process traces. The zero value, and nil, trace none.
type Trace struct {
	log *slog.Logger
	ids []entity.ID
}

// New returns a trace of none that writes to log.
func New(log *slog.Logger) *Trace { return &Trace{log: log} }

// Of reports whether an entity is traced.
func (t *Trace) Of(id entity.ID) bool {
	return t != nil && len(t.ids) > 0 && slices.Contains(t.ids, id)
}

// Step writes a step in the life of an entity, at a time of the cluster. more are further
// attributes, by name and value.
func (t *Trace) Step(at time.Duration, id entity.ID, typ string, order entity.Order, step string, more ...any) {
	t.log.Info(Message, append([]any{
		"step", step, "entity", id, "type", typ, "order", fmt.Sprintf("%d.%d", order.Incarnation, order.Hop), "at", at,
	}, more...)...)
}

// Watch shows the list among the values of the process, and lets it be set.
func (t *Trace) Watch(tree *watch.Tree) {
	tree.Add(Path, "ids of the entities whose steps are logged", t.String, t.Set)
}

// String is the list as Set takes it.
func (t *Trace) String() string { return Format(t.ids) }

// Set reads a list of ids.
func (t *Trace) Set(text string) error {
	ids, err := Parse(text)
	if err == nil {
		t.ids = ids
	}
	return err
}

// Format writes a list of ids.
func Format(ids []entity.ID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(id.String())
	}
	return b.String()
}

// Parse reads ids with commas or spaces between them, each once.
func Parse(text string) (ids []entity.ID, err error) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		id, ok := parseID(word)
		if !ok {
			return nil, fmt.Errorf("%.40q is no id of an entity: write ids as the log has them, with commas between them, or nothing for none", word)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > MaxTraced {
			return nil, fmt.Errorf("more than %d entities: trace fewer at a time", MaxTraced)
		}
	}
	return ids, nil
}

// parseID reads an id as its String, allocator.counter, or as one number.
func parseID(word string) (id entity.ID, ok bool) {
	allocator, counter, two := strings.Cut(word, ".")
	if !two {
		n, err := strconv.ParseUint(word, 10, 64)
		return entity.ID(n), err == nil && entity.ID(n).Valid()
	}
	a, err := strconv.ParseUint(allocator, 10, 32)
	n, err2 := strconv.ParseUint(counter, 10, 32)
	id = entity.ID(a<<32 | n)
	return id, err == nil && err2 == nil && id.Valid()
}
