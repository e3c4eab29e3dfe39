// Package enum gives the values of an enumeration their names, for people.
package enum

import "fmt"

// Name is the name that a list has of a value. A value without one is told by its number, after what
// it is.
func Name[T ~uint8](value T, what string, names []string) string {
	if int(value) < len(names) && names[value] != "" {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", what, uint8(value))
}
