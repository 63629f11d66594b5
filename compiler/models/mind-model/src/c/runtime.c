
/* Rows of the rotation: cosines and sines of angles from 0 to 2^24, within 2^-45 of the exact ones. */
static void rotation(int turning, uint32_t position, float *cosines, float *sines)
{
    static const double sine_terms[7] = {-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0,
        -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
    static const double cosine_terms[8] = {-0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0,
        -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    float scale;
    memcpy(&scale, &rotation_scales[turning], 4);
    for (int pair = 0; pair < PAIRS; ++pair) {
        float frequency;
        memcpy(&frequency, &frequencies[turning][pair], 4);
        float narrow = (float)position * frequency;
        double angle = narrow;
        double turns = (double)(int64_t)(angle * 0.6366197723675814 + 0.5);
        double r = ((angle - turns * 1.570796325802803) - turns * 9.920935774287987e-10)
            - turns * 2.2517417741562176e-18;
        double square = r * r;
        double sine = sine_terms[6], cosine = cosine_terms[7];
        for (int term = 5; term >= 0; --term) {
            sine = sine * square + sine_terms[term];
        }
        for (int term = 6; term >= 0; --term) {
            cosine = cosine * square + cosine_terms[term];
        }
        sine = r + r * (square * sine);
        cosine = 1.0 + square * cosine;
        switch ((uint64_t)turns % 4) {
        case 0:
            cosines[pair] = (float)cosine;
            sines[pair] = (float)sine;
            break;
        case 1:
            cosines[pair] = (float)-sine;
            sines[pair] = (float)cosine;
            break;
        case 2:
            cosines[pair] = (float)-cosine;
            sines[pair] = (float)-sine;
            break;
        default:
            cosines[pair] = (float)sine;
            sines[pair] = (float)-cosine;
            break;
        }
        cosines[pair] = cosines[pair] * scale;
        sines[pair] = sines[pair] * scale;
    }
}

/* Sources of weights: open files, or a seed for random ones. */
static FILE *files[FILES];
static int has_seed;
static uint64_t seed;

static uint32_t drawn(uint64_t tensor, uint64_t index)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u * (index + 1) + 0xd1b54a32d192ed03u * (tensor + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 33);
}

/* Writes block `index` of a random weight in its storage format: between -1/16 and 1/16, or near 1 for gains. */
static void make(const struct weight *w, uint64_t index, unsigned char *to)
{
    if (w->size != 2 && w->size != 4) {
        /* Random bits, except for the exponents of scales. */
        for (int at = 0; at < w->size; ++at) {
            to[at] = (unsigned char)(drawn(w->offset, index * 256 + (uint64_t)at) & 0x9fu);
        }
        return;
    }
    uint32_t random = drawn(w->offset + 131 * (uint64_t)w->file, index);
    uint32_t bits = w->is_gain ? 0x3f800000u | (random & 0x000f0000u)
        : 0x3d000000u | (random & 0x007f0000u) | (random & 1) << 31;
    if (w->size == 4) {
        memcpy(to, &bits, 4);
    } else {
        /* f16 has 5 exponent bits, and the numbers above have 7 mantissa bits. */
        uint16_t narrow = w->is_half
            ? (uint16_t)((bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112u) << 10) | (bits >> 13 & 0x3ffu))
            : (uint16_t)(bits >> 16);
        memcpy(to, &narrow, 2);
    }
}

/* Reads blocks `first` to `first + count` of a weight in its storage format. */
static int load(const struct weight *w, uint64_t first, uint64_t count, unsigned char *to)
{
    if (has_seed) {
        for (uint64_t at = 0; at < count; ++at) {
            make(w, first + at, to + at * (uint64_t)w->size);
        }
        return 0;
    }
    FILE *file = files[w->file];
    uint64_t offset = w->offset + first * (uint64_t)w->size;
    if (fseek(file, 0, SEEK_SET) != 0) {
        return 1;
    }
    while (offset > 0) {
        long step = offset > 0x40000000u ? 0x40000000L : (long)offset;
        if (fseek(file, step, SEEK_CUR) != 0) {
            return 1;
        }
        offset -= (uint64_t)step;
    }
    return fread(to, (size_t)w->size, (size_t)count, file) != count;
}

static void *room(uint64_t bytes)
{
    void *found = bytes < SIZE_MAX / 2 ? calloc((size_t)bytes + 1, 1) : NULL;
    if (found == NULL) {
        fprintf(stderr, "error: no memory for %llu bytes\n", (unsigned long long)bytes);
        exit(1);
    }
    return found;
}

/* Reports a weight that exceeds the end of its file. */
static void missing(const struct weight *w)
{
    fprintf(stderr, "error: weight %s: the file ends before it\n", w->name);
    exit(1);
}

/* Reads all rows of a weight in the model's order. */
static unsigned char *rows_of(const struct weight *w)
{
    unsigned char *stored = room(w->count * (uint64_t)w->size);
    uint64_t bytes = w->row * (uint64_t)w->size;
    if (w->column != 0) {
        uint64_t rows = w->count / w->row;
        unsigned char *column = room(rows * (uint64_t)w->size);
        for (uint64_t input = 0; input < w->row; ++input) {
            if (load(w, input * w->column, rows, column) != 0) {
                missing(w);
            }
            for (uint64_t row = 0; row < rows; ++row) {
                memcpy(stored + row * bytes + input * (uint64_t)w->size, column + row * (uint64_t)w->size,
                    (size_t)w->size);
            }
        }
        free(column);
        return stored;
    }
    uint64_t group = w->group != 0 ? w->group : w->count / w->row;
    for (uint64_t row = 0; row < w->count / w->row; row += group) {
        if (load(w, row / group * w->stride * w->row, group * w->row, stored + row * bytes) != 0) {
            missing(w);
        }
    }
    if (w->head == 0) {
        return stored;
    }
    uint64_t head = (uint64_t)w->head, half = (uint64_t)w->rotated / 2;
    unsigned char *ordered = room(w->count * (uint64_t)w->size);
    for (uint64_t row = 0; row < w->count / w->row; ++row) {
        uint64_t within = row % head;
        uint64_t from = within < 2 * half ? row - within + 2 * (within % half) + within / half : row;
        memcpy(ordered + row * bytes, stored + from * bytes, (size_t)bytes);
    }
    free(stored);
    return ordered;
}

/* The weights of a stage, packed for one token and for CHUNK. */
struct bound {
    void *one, *many;
};

/* Packs the weights of a stage, if it has any. */
static struct bound bound(const struct stage *stage)
{
    const void *inputs[MOST_WEIGHTS];
    void *outputs[1];
    struct bound packed = {NULL, NULL};
    if (stage->bind == NULL) {
        return packed;
    }
    for (int at = 0; at < stage->count; ++at) {
        inputs[at] = rows_of(&stage->weights[at]);
    }
    packed.one = outputs[0] = room(stage->bytes);
    stage->bind(inputs, outputs);
    packed.many = packed.one;
    if (stage->bind_many != NULL) {
        packed.many = outputs[0] = room(stage->many_bytes);
        stage->bind_many(inputs, outputs);
    }
    for (int at = 0; at < stage->count; ++at) {
        free((void *)(uintptr_t)inputs[at]);
    }
    return packed;
}

static void unbind(struct bound packed)
{
    if (packed.many != packed.one) {
        free(packed.many);
    }
    free(packed.one);
}

/* Decodes row `index` of a table of blocks of `elements`. */
static void table_row(const struct weight *w, void (*decode)(const unsigned char *block, float *to),
    int elements, uint64_t index, float *row)
{
    /* No format has more than four bytes per number. */
    static unsigned char stored[4 * ROW];
    if (load(w, index * w->row, w->row, stored) != 0) {
        missing(w);
    }
    for (uint64_t block = 0; block < w->row; ++block) {
        decode(stored + block * (uint64_t)w->size, row + block * (uint64_t)elements);
    }
}

/* Adds row `index` of a table to `row`. */
static void add_table_row(const struct table *table, uint64_t index, float *row)
{
    static float learned[ROW];
    table_row(&table->weight, table->decode, table->elements, index, learned);
    for (int element = 0; element < WIDTH; ++element) {
        row[element] = row[element] + learned[element];
    }
}

/* Computes the embedding of a token at row `position` of the position table. */
static void token_row(const struct tables *tables, uint32_t token, uint64_t position, float *row)
{
    float scale;
    uint32_t scale_bits = EMBEDDING_SCALE;
    memcpy(&scale, &scale_bits, 4);
    table_row(&tables->tokens.weight, tables->tokens.decode, tables->tokens.elements, token, row);
    for (int element = 0; scale != 1.0f && element < WIDTH; ++element) {
        row[element] = row[element] * scale;
    }
    if (tables->kinds.decode != NULL) {
        add_table_row(&tables->kinds, 0, row);
    }
    if (tables->positions.decode != NULL) {
        add_table_row(&tables->positions, position, row);
    }
}

#if ANY_DISTANCES
/* Returns the bias of each distance class and head, or the slopes of the heads. */
static float *distance_numbers(const struct distances *own)
{
    uint64_t heads = (uint64_t)own->heads;
    if (own->slopes != NULL) {
        float *slopes = room(sizeof(float) * heads);
        memcpy(slopes, own->slopes, sizeof(float) * (size_t)heads);
        return slopes;
    }
    float *numbers = room(sizeof(float) * heads * (uint64_t)own->count);
    for (uint64_t class = 0; class < (uint64_t)own->count; ++class) {
        table_row(&own->table.weight, own->table.decode, own->table.elements, class, numbers + class * heads);
    }
    return numbers;
}

/* Computes the distance biases for `tokens` queries, from position `first` on, and `seen` keys. */
static void fill_distances(const struct distances *own, const float *numbers, float *to, int first, int tokens, int seen)
{
    for (int at = 0; at < tokens; ++at) {
        for (int key = 0; key < seen; ++key) {
            int away = first + at - key, class = 0;
            if (own->slopes != NULL) {
                for (int head = 0; head < own->heads; ++head) {
                    to[((size_t)head * (size_t)tokens + (size_t)at) * (size_t)seen + (size_t)key] =
                        (float)-away * numbers[head];
                }
                continue;
            }
            if (away >= 0) {
                class = (int)own->classes[away < own->last ? away : own->last];
            } else if (own->behind > 0) {
                class = own->behind + (int)own->classes[-away < own->last ? -away : own->last];
            }
            for (int head = 0; head < own->heads; ++head) {
                to[((size_t)head * (size_t)tokens + (size_t)at) * (size_t)seen + (size_t)key] =
                    numbers[(size_t)class * (size_t)own->heads + (size_t)head];
            }
        }
    }
}
#endif

/* Opens a weight file. Returns 1 if it cannot be opened. */
static int open_weights(const char *name, int *opened)
{
    files[*opened] = fopen(name, "rb");
    if (files[(*opened)++] == NULL) {
        fprintf(stderr, "error: %s cannot be read\n", name);
        return 1;
    }
    return 0;
}

#if READS_IMAGES || READS_AUDIO
/* Returns the `count` numbers of a file; reports an error and returns NULL for a file of another size. */
static float *read_numbers(const char *name, size_t count)
{
    float *numbers = room(sizeof(float) * (uint64_t)count);
    FILE *in = fopen(name, "rb");
    int is_whole = in != NULL && fread(numbers, sizeof(float), count, in) == count && fgetc(in) == EOF;
    if (in != NULL) {
        fclose(in);
    }
    if (is_whole) {
        return numbers;
    }
    fprintf(stderr, "error: %s does not contain %lu f32\n", name, (unsigned long)count);
    free(numbers);
    return NULL;
}
#endif

/* Returns the rest of `word` after the prefix `option`; NULL if it has another prefix. */
static const char *value_of(const char *word, const char *option)
{
    size_t length = strlen(option);
    return strncmp(word, option, length) == 0 ? word + length : NULL;
}

/* Selects random weights if `word` is the option for them. */
static int is_seed(const char *word)
{
    const char *said = value_of(word, "--seed=");
    if (said != NULL) {
        has_seed = 1;
        seed = strtoull(said, NULL, 10);
    }
    return said != NULL;
}

/* Reports missing processor features. */
static int lacks_cpu(void)
{
    if (MIND_LACKS_CPU) {
        fprintf(stderr, "error: this processor lacks AVX2 or FMA; compile with -DMIND_ANY_CPU\n");
    }
    return MIND_LACKS_CPU;
}

#if !READS_IMAGES
/* Parses a list of at most `most` numbers. Returns their count, or -1 after an error. */
static int parse_tokens(const char *at, uint32_t *tokens, int most)
{
    int length = 0;
    while (*at != '\0') {
        char *end;
        unsigned long long token = strtoull(at, &end, 10);
        if (*at < '0' || *at > '9' || token >= VOCAB || length >= most || (*end != ',' && *end != '\0')) {
            fprintf(stderr, "error: TOKENS must be at most %d numbers below %d, found `%s`\n", most, VOCAB, at);
            return -1;
        }
        tokens[length++] = (uint32_t)token;
        at = *end == ',' ? end + 1 : end;
    }
    return length;
}
#endif
