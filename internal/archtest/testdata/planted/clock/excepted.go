package clock

import "time"

// Excepted reads the clock in a file that the table names.
func Excepted() time.Time { return time.Now() }
