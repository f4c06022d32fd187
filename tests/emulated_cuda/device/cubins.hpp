// Figures of kernels from the machine code that an assembler made: an emulated device invents none.
#pragma once

#include <string>

namespace emulated {

struct Figures {
    // Per thread.
    int registers = 0;
    int local_bytes = 0;
};

// Reads the figures of each kernel of an image, where it is a cubin. The last one that was loaded counts for a name.
void read_cubin(const void *image);
void read_cubin_file(const char *path);
// The figures of a kernel that was loaded, or zeros.
Figures figures_of(const std::string &kernel);

}  // namespace emulated
