package aoi

// mark is one entry of a line: where it lies, and what it stands for. Marks at the same place are
// told apart by ref.
type mark struct {
	at  float64
	ref uint32
}

func (m mark) before(o mark) bool {
	return m.at < o.at || m.at == o.at && m.ref < o.ref
}

// blockSize is the number of marks in a block of 1 KiB. It is small enough that a shift within a
// block touches only a few cache lines, and large enough that the directory of a line of 40,000
// marks has fewer than 1,300 entries.
const blockSize = 64

// block is a run of sorted marks.
type block struct {
	n     int
	marks [blockSize]mark
}

// line is a sorted sequence of marks, cut into blocks.
//
// Invariants: no block is empty; heads[i] is the first mark of blocks[i]; marks ascend strictly
// within and across blocks.
type line struct {
	heads  []mark // apart from the blocks, so that a search touches only adjacent memory
	blocks []*block
	free   []*block // emptied blocks, kept so that a line that breathes does not allocate
}

// find returns the block in which m lies or would be put: the last one whose head is not after m,
// else the first.
func (l *line) find(m mark) int {
	lo, hi := 0, len(l.heads)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.before(l.heads[mid]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(lo-1, 0)
}

// find returns the position of the first mark that is not before m.
func (b *block) find(m mark) int {
	lo, hi := 0, b.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if b.marks[mid].before(m) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (l *line) insert(m mark) {
	if len(l.blocks) == 0 {
		l.openBlock(0)
	}
	i := l.find(m)
	if l.blocks[i].n == blockSize {
		l.split(i)
		if !m.before(l.heads[i+1]) {
			i++
		}
	}
	b := l.blocks[i]
	j := b.find(m)
	copy(b.marks[j+1:b.n+1], b.marks[j:b.n])
	b.marks[j] = m
	b.n++
	l.heads[i] = b.marks[0]
}

func (l *line) remove(m mark) {
	i, j := l.locate(m)
	b := l.blocks[i]
	copy(b.marks[j:b.n-1], b.marks[j+1:b.n])
	b.n--
	if b.n == 0 {
		l.closeBlock(i)
		return
	}
	l.heads[i] = b.marks[0]
	l.merge(i)
}

// move is remove and insert in one. Most steps stay within a block, and then only the marks that
// are passed shift.
func (l *line) move(from, to mark) {
	i, j := l.locate(from)
	if i > 0 && to.before(l.heads[i]) || i+1 < len(l.heads) && !to.before(l.heads[i+1]) {
		l.remove(from)
		l.insert(to)
		return
	}
	b := l.blocks[i]
	for ; j+1 < b.n && b.marks[j+1].before(to); j++ {
		b.marks[j] = b.marks[j+1]
	}
	for ; j > 0 && to.before(b.marks[j-1]); j-- {
		b.marks[j] = b.marks[j-1]
	}
	b.marks[j] = to
	l.heads[i] = b.marks[0]
}

// locate returns where m is. A mark that is not there means that the List has lost track of a
// position.
func (l *line) locate(m mark) (i, j int) {
	if len(l.blocks) > 0 {
		i = l.find(m)
		if j = l.blocks[i].find(m); j < l.blocks[i].n && l.blocks[i].marks[j] == m {
			return i, j
		}
	}
	panic("aoi: a mark is not on its line")
}

func (l *line) split(i int) {
	l.openBlock(i + 1)
	low, high := l.blocks[i], l.blocks[i+1]
	low.n = blockSize / 2
	high.n = copy(high.marks[:], low.marks[blockSize/2:])
	l.heads[i+1] = high.marks[0]
}

// merge joins block i with a neighbour when both are thin; otherwise a line that has shrunk could
// keep one mark per block.
func (l *line) merge(i int) {
	if !l.join(i) {
		l.join(i - 1)
	}
}

// join empties block i+1 into block i if half a block holds both. It leaves that much room so that
// the next insert does not split the block again.
func (l *line) join(i int) bool {
	if i < 0 || i+1 >= len(l.blocks) || l.blocks[i].n+l.blocks[i+1].n > blockSize/2 {
		return false
	}
	low, high := l.blocks[i], l.blocks[i+1]
	low.n += copy(low.marks[low.n:], high.marks[:high.n])
	l.closeBlock(i + 1)
	return true
}

// openBlock puts an empty block at i; the caller fills it.
func (l *line) openBlock(i int) {
	var b *block
	if n := len(l.free); n > 0 {
		b, l.free = l.free[n-1], l.free[:n-1]
	} else {
		b = new(block)
	}
	l.heads = append(l.heads, mark{})
	l.blocks = append(l.blocks, nil)
	copy(l.heads[i+1:], l.heads[i:])
	copy(l.blocks[i+1:], l.blocks[i:])
	l.blocks[i] = b
}

func (l *line) closeBlock(i int) {
	b := l.blocks[i]
	b.n = 0
	l.free = append(l.free, b)
	last := len(l.blocks) - 1
	copy(l.heads[i:], l.heads[i+1:])
	copy(l.blocks[i:], l.blocks[i+1:])
	l.blocks[last] = nil
	l.heads, l.blocks = l.heads[:last], l.blocks[:last]
}

// width estimates, in blocks, how many marks lie within [lo, hi]: enough to choose the cheaper
// axis.
func (l *line) width(lo, hi float64) int {
	return l.find(mark{at: hi}) - l.find(mark{at: lo})
}

// span walks the marks of a line that lie within [lo, hi], in runs. The line must not change during
// the walk.
//
//	for s := l.span(lo, hi); s.next(); {
//		for _, m := range s.run {
type span struct {
	run    []mark
	line   *line
	lo, hi float64
	block  int
}

func (l *line) span(lo, hi float64) span {
	return span{line: l, lo: lo, hi: hi, block: l.find(mark{at: lo})}
}

func (s *span) next() bool {
	for s.block < len(s.line.blocks) {
		b := s.line.blocks[s.block]
		s.block++
		s.run = b.marks[:b.n]
		if s.run[0].at < s.lo { // only in the first block
			s.run = s.run[b.find(mark{at: s.lo}):]
		}
		if n := len(s.run); n > 0 && s.run[n-1].at > s.hi {
			for n > 0 && s.run[n-1].at > s.hi {
				n--
			}
			s.run = s.run[:n]
			s.block = len(s.line.blocks)
		}
		if len(s.run) > 0 {
			return true
		}
	}
	return false
}
