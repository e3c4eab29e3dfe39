// Package long has a function of 61 lines, and a table.
package long

func walk(n int) int {
	n += 0
	n += 1
	n += 2
	n += 3
	n += 4
	n += 5
	n += 6
	n += 7
	n += 8
	n += 9
	n += 10
	n += 11
	n += 12
	n += 13
	n += 14
	n += 15
	n += 16
	n += 17
	n += 18
	n += 19
	n += 20
	n += 21
	n += 22
	n += 23
	n += 24
	n += 25
	n += 26
	n += 27
	n += 28
	n += 29
	n += 30
	n += 31
	n += 32
	n += 33
	n += 34
	n += 35
	n += 36
	n += 37
	n += 38
	n += 39
	n += 40
	n += 41
	n += 42
	n += 43
	n += 44
	n += 45
	n += 46
	n += 47
	n += 48
	n += 49
	n += 50
	n += 51
	n += 52
	n += 53
	n += 54
	n += 55
	n += 56
	n += 57
	return n
}

func name(n int) string {
	switch n {
	case 0:
		return "0"
	case 1:
		return "1"
	case 2:
		return "2"
	case 3:
		return "3"
	case 4:
		return "4"
	case 5:
		return "5"
	case 6:
		return "6"
	case 7:
		return "7"
	case 8:
		return "8"
	case 9:
		return "9"
	case 10:
		return "10"
	case 11:
		return "11"
	case 12:
		return "12"
	case 13:
		return "13"
	case 14:
		return "14"
	case 15:
		return "15"
	case 16:
		return "16"
	case 17:
		return "17"
	case 18:
		return "18"
	case 19:
		return "19"
	case 20:
		return "20"
	case 21:
		return "21"
	case 22:
		return "22"
	case 23:
		return "23"
	case 24:
		return "24"
	case 25:
		return "25"
	case 26:
		return "26"
	case 27:
		return "27"
	case 28:
		return "28"
	case 29:
		return "29"
	case 30:
		return "30"
	case 31:
		return "31"
	case 32:
		return "32"
	case 33:
		return "33"
	case 34:
		return "34"
	case 35:
		return "35"
	case 36:
		return "36"
	case 37:
		return "37"
	case 38:
		return "38"
	case 39:
		return "39"
	default:
		return "many"
	}
}

// Path shows more than the table of surfaces allows.
type Path struct{}

func (Path) First() {}
func (Path) Last()  {}
func (Path) next()  {}

// last is of no use but for this comment, which goes on and on until nobody can see its end any more without scrolling.
//
//	a drawing may be as wide as it has to be, since nobody can wrap it: ─────────────────────────────────────>
//
// And a list:
//
//   - It may have an item, which is no shorter than what the others are, and is a fault for the very same reason, too.
func last() {
	walk(1) // as may a comment behind code, which nobody reads before the code, and which belongs to this line alone, only
}
