// Package goroutine starts one.
package goroutine

// Start does it.
func Start(f func()) {
	go f()
}
