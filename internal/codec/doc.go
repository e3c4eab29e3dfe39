// Package codec reads and appends the fields of messages: a bounded reader whose first fault
// sticks, and append functions that write into the caller's buffer. Any package may use it.
//
// A message that is sent now and then describes its fields once, for both directions, to a [Coder],
// in a method code; its Append and Parse are what that says. One that is sent all the time appends by
// hand and reads with a [Reader]: the price of a description is two small allocations a message.
package codec
