package mercury

import "time"

// wakeQueue is a heap of channels by the time at which they want to be looked at; ties go to the older channel.
//
// A channel's wake time is a lower bound of its true deadline: it is lowered at once but raised only when it
// comes up. So sending a packet, which moves several deadlines further away, costs nothing here.
type wakeQueue struct{ heap []*channel }

func (q *wakeQueue) less(i, j int) bool {
	a, b := q.heap[i], q.heap[j]
	return a.wake < b.wake || a.wake == b.wake && a.id < b.id
}

func (q *wakeQueue) swap(i, j int) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.heap[i].place, q.heap[j].place = i, j
}

func (q *wakeQueue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.less(i, parent) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q *wakeQueue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.less(child+1, child) {
			child++
		}
		if !q.less(child, i) {
			return
		}
		q.swap(i, child)
		i = child
	}
}

// first is the channel that wakes first, nil when there is none.
func (q *wakeQueue) first() *channel {
	if len(q.heap) == 0 {
		return nil
	}
	return q.heap[0]
}

func (q *wakeQueue) add(c *channel, at time.Duration) {
	c.wake, c.place = at, len(q.heap)
	q.heap = append(q.heap, c)
	q.up(c.place)
}

func (q *wakeQueue) remove(c *channel) {
	last := len(q.heap) - 1
	i := c.place
	if i != last {
		q.swap(i, last)
	}
	q.heap[last] = nil
	q.heap = q.heap[:last]
	if i < last {
		q.up(i)
		q.down(i)
	}
	c.place = -1
}

// lower brings c forward to at if that is earlier.
func (q *wakeQueue) lower(c *channel, at time.Duration) {
	if at < c.wake {
		c.wake = at
		q.up(c.place)
	}
}

// raise puts c back to at, which is not earlier.
func (q *wakeQueue) raise(c *channel, at time.Duration) {
	c.wake = at
	q.down(c.place)
}
