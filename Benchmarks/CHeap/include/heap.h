#pragma once

/// Allocations of the process since its start, of any kind.
long heap_allocations(void);
/// Bytes that are allocated now.
long heap_bytes(void);
