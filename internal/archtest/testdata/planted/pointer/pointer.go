// Package pointer prints addresses.
package pointer

import "fmt"

const format = "at %-12p"

// Print does it.
func Print(x *int) string {
	_ = fmt.Sprintf("%d%%p", *x)
	_ = fmt.Sprint("%p")
	_ = fmt.Errorf("%[1]p", x)
	return fmt.Sprintf(format, x)
}
