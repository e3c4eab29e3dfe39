package navigation

import (
	"math"

	"github.com/cellscape/cellscape/property"
)

// pull appends the corners of the tightest way through doors, after the first place: a string that is pulled
// tight in a funnel of two sides, which narrows from door to door ("simple stupid funnel algorithm", M.
// Mononen, 2010). Whoever goes through a door has its a on the right and its b on the left.
func pull(corners []property.Vector3, from, to point, doors []link) []property.Vector3 {
	n, begin := len(doors), len(corners)
	door := func(i int) (right, left point) {
		if i == n {
			return to, to
		}
		return doors[i].a, doors[i].b
	}
	tip, tipAt := from, 0 // the next door after tip
	right, left := from, from
	rightAt, leftAt := 0, 0
	for i := 0; i <= n; i++ {
		r, l := door(i)
		if turn(tip, right, r) >= 0 { // r is not outside of the right side
			if same(tip, right) || turn(tip, left, r) < 0 {
				right, rightAt = r, i
			} else { // it crosses the left side, which is a corner
				corners = ground(corners, tip, left, doors[tipAt:leftAt])
				tip, tipAt = left, leftAt+1
				right, left, rightAt = tip, tip, leftAt
				i = leftAt
				continue
			}
		}
		if turn(tip, left, l) <= 0 {
			if same(tip, left) || turn(tip, right, l) > 0 {
				left, leftAt = l, i
			} else {
				corners = ground(corners, tip, right, doors[tipAt:rightAt])
				tip, tipAt = right, rightAt+1
				right, left, leftAt = tip, tip, rightAt
				i = rightAt
				continue
			}
		}
	}
	if len(corners) > begin && tip == to {
		return corners // it has been taken for a corner, since the way there is straight
	}
	return ground(corners, tip, to, doors[min(tipAt, n):])
}

func same(a, b point) bool { return a.x == b.x && a.z == b.z }

// bump is how far from the straight line the ground may be, in metres, until the way follows it.
const bump = 0.1

// ground appends a corner, and before it the places at which the way there crosses doors that are above or
// below the straight line: the ground bends at doors alone.
func ground(corners []property.Vector3, from, to point, doors []link) []property.Vector3 {
	long := math.Hypot(to.x-from.x, to.z-from.z)
	at := from
	for i := range doors {
		c, ok := cross(from, to, &doors[i])
		if !ok {
			continue
		}
		gone, left := math.Hypot(c.x-at.x, c.z-at.z), math.Hypot(to.x-at.x, to.z-at.z)
		if long == 0 || left == 0 {
			break
		}
		if line := at.y + float64((to.y-at.y)*gone/left); math.Abs(line-c.y) > bump {
			corners = append(corners, c.vector())
			at = c
		}
	}
	return append(corners, to.vector())
}

// cross is where a straight way goes through a door.
func cross(from, to point, l *link) (point, bool) {
	s, t := turn(from, to, l.a), turn(from, to, l.b)
	if s == t { // along the door
		return point{}, false
	}
	return l.a.towards(l.b, min(max(s/(s-t), 0), 1)), true
}
