// Package codec reads and appends the fields of messages: a bounded reader whose first fault
// sticks, and append functions that write into the caller's buffer. Any package may use it.
package codec
