package witness

import (
	"math/bits"

	"github.com/cellscape/cellscape/entity"
)

// ref finds an entry by the id of its entity.
type ref struct {
	id    entity.ID // 0 for nobody
	alias uint16
}

// index finds entries by id: a table in which an id stands at its place, or behind it if others
// stand there. At least a quarter of the places is free. In the crowd of a thousand a list by id had
// to move for everybody who came and went.
type index struct {
	refs []ref // their number is a power of two
	n    int
}

// minIndex is how many places the table has at first.
const minIndex = 16

// place is where an id belongs. The ids of a space mostly follow each other, and the upper bits of such a
// product are spread evenly.
func (x *index) place(id entity.ID) int {
	return int((uint64(id) * 0x9e3779b97f4a7c15) >> 32 & uint64(len(x.refs)-1))
}

// seek is where an id stands, or the free place where it would.
func (x *index) seek(id entity.ID) int {
	i := x.place(id)
	for x.refs[i].id != 0 && x.refs[i].id != id {
		i = (i + 1) & (len(x.refs) - 1)
	}
	return i
}

func (x *index) get(id entity.ID) (ref, bool) {
	if x.n == 0 {
		return ref{}, false
	}
	n := x.refs[x.seek(id)]
	return n, n.id != 0
}

// put adds an id that is not in the table.
func (x *index) put(n ref) {
	x.grow(x.n + 1)
	x.refs[x.seek(n.id)] = n
	x.n++
}

// grow makes room for so many ids.
func (x *index) grow(n int) {
	if 4*n <= 3*len(x.refs) {
		return
	}
	was := x.refs
	x.refs = make([]ref, max(minIndex, 1<<bits.Len(uint(n+n/3))))
	for _, m := range was {
		if m.id != 0 {
			x.refs[x.seek(m.id)] = m
		}
	}
}

// remove takes out an id that is in the table. Those behind it that belong farther forward move up, so
// that no gap hides them.
func (x *index) remove(id entity.ID) {
	last := len(x.refs) - 1
	free := x.seek(id)
	for i := (free + 1) & last; x.refs[i].id != 0; i = (i + 1) & last {
		if (i-x.place(x.refs[i].id))&last >= (i-free)&last {
			x.refs[free], free = x.refs[i], i
		}
	}
	x.refs[free] = ref{}
	x.n--
}

// reset empties the table.
func (x *index) reset() {
	clear(x.refs)
	x.n = 0
}
