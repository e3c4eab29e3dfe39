package property

import "fmt"

// checkName accepts names that work as an XML element, a file name on every system and, with its
// first letter raised, a Go identifier.
func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("name is empty")
	}
	if len(name) > MaxName {
		return fmt.Errorf("name %q… is longer than %d bytes", name[:16], MaxName)
	}
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("%q is not a name", name)
		}
	}
	return nil
}

const nameRemedy = "use letters, digits and _, not beginning with a digit"
