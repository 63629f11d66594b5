
/* Rows of the rotation: cosines and sines of angles from 0 to 2^24, within 2^-45 of the exact ones. */
static void rotation(int turning, uint32_t position, float *cosines, float *sines)
{
    static const double sine_terms[7] = {-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0,
        -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
    static const double cosine_terms[8] = {-0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0,
        -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
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
    }
}

/* Where weights come from: open files, or a seed. */
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

/* Block `index` of a made-up weight, as it is stored: between -1/16 and 1/16, or near 1 for gains. */
static void make(const struct weight *w, uint64_t index, unsigned char *to)
{
    if (w->size != 2 && w->size != 4) {
        /* Any bits, but for the exponents of scales. */
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
        /* f16 has 5 bits of exponent, and the numbers above have 7 bits of mantissa. */
        uint16_t narrow = w->is_half
            ? (uint16_t)((bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112u) << 10) | (bits >> 13 & 0x3ffu))
            : (uint16_t)(bits >> 16);
        memcpy(to, &narrow, 2);
    }
}

/* Blocks `first` to `first + count` of a weight, as they are stored. */
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

/* A weight whose file is shorter than it. */
static void missing(const struct weight *w)
{
    fprintf(stderr, "error: weight %s: the file ends before it\n", w->name);
    exit(1);
}

/* All rows of a weight, in the model's order. */
static unsigned char *rows_of(const struct weight *w)
{
    unsigned char *stored = room(w->count * (uint64_t)w->size);
    if (load(w, 0, w->count, stored) != 0) {
        missing(w);
    }
    if (w->head == 0) {
        return stored;
    }
    uint64_t bytes = w->row * (uint64_t)w->size, head = (uint64_t)w->head, half = (uint64_t)w->rotated / 2;
    unsigned char *ordered = room(w->count * (uint64_t)w->size);
    for (uint64_t row = 0; row < w->count / w->row; ++row) {
        uint64_t within = row % head;
        uint64_t from = within < 2 * half ? row - within + 2 * (within % half) + within / half : row;
        memcpy(ordered + row * bytes, stored + from * bytes, (size_t)bytes);
    }
    free(stored);
    return ordered;
}

/* Packs the weights of a stage. */
static void *bound(const struct stage *stage)
{
    const void *inputs[MOST_WEIGHTS];
    void *outputs[1];
    for (int at = 0; at < stage->count; ++at) {
        inputs[at] = rows_of(&stage->weights[at]);
    }
    outputs[0] = room(stage->bytes);
    stage->bind(inputs, outputs);
    for (int at = 0; at < stage->count; ++at) {
        free((void *)(uintptr_t)inputs[at]);
    }
    return outputs[0];
}

/* One sequence. */
static void *project_bound[LAYERS], *finish_bound[LAYERS], *head_bound;
static float *keys, *values;
static float x[CHUNK * WIDTH], y[CHUNK * WIDTH], q[CHUNK * Q_WIDTH], mixed[CHUNK * Q_WIDTH];
static float cosines[3][CHUNK * PAIRS + 1], sines[3][CHUNK * PAIRS + 1], logits[VOCAB];
/* For layers without and with a window. */
static float masks[2][CHUNK * ROWS];

/* Decodes row `index` of a table of blocks of `elements`. */
static void table_row(const struct weight *w, void (*decode)(const unsigned char *block, float *to),
    int elements, uint64_t index, float *row)
{
    /* No format takes more than four bytes for a number. */
    static unsigned char stored[4 * WIDTH];
    if (load(w, index * w->row, w->row, stored) != 0) {
        missing(w);
    }
    for (uint64_t block = 0; block < w->row; ++block) {
        decode(stored + block * (uint64_t)w->size, row + block * (uint64_t)elements);
    }
}

/* Runs `count` tokens, from position `first` on, through all layers; the rows of the last one are in `x`. */
static void pass(const uint32_t *tokens, int count, int first)
{
    int padded = count == 1 ? 1 : CHUNK, choice = 0;
    while (attention[choice].rows < first + count) {
        ++choice;
    }
    int seen = attention[choice].rows;
    memset(x, 0, sizeof x);
    for (int at = 0; at < count; ++at) {
        float *row = x + at * WIDTH;
        table_row(&token_table, TOKEN_DECODE, TOKEN_ELEMENTS, tokens[at], row);
        float scale;
        uint32_t scale_bits = EMBEDDING_SCALE;
        memcpy(&scale, &scale_bits, 4);
        for (int element = 0; scale != 1.0f && element < WIDTH; ++element) {
            row[element] = row[element] * scale;
        }
        if (POSITIONS) {
            static float learned[WIDTH];
            table_row(&position_table, POSITION_DECODE, POSITION_ELEMENTS, (uint64_t)(first + at), learned);
            for (int element = 0; element < WIDTH; ++element) {
                row[element] = row[element] + learned[element];
            }
        }
    }
    int window = 0;
    for (int layer = 0; layer < LAYERS; ++layer) {
        window = layers[layer].window > 0 ? layers[layer].window : window;
    }
    for (int at = 0; at < padded; ++at) {
        for (int turning = 0; turning < 3; ++turning) {
            rotation(turning, (uint32_t)(first + at), cosines[turning] + at * PAIRS, sines[turning] + at * PAIRS);
        }
        for (int other = 0; other < seen; ++other) {
            int is_before = other <= first + at;
            int is_near = is_before && (window == 0 || first + at - other < window);
            uint32_t bits = is_before ? 0 : 0xff800000u, near_bits = is_near ? 0 : 0xff800000u;
            memcpy(&masks[0][at * seen + other], &bits, 4);
            memcpy(&masks[1][at * seen + other], &near_bits, 4);
        }
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        float *k = keys + (size_t)layer * ROWS * KV_WIDTH, *v = values + (size_t)layer * ROWS * KV_WIDTH;
        float *new_k = k + (size_t)first * KV_WIDTH, *new_v = v + (size_t)first * KV_WIDTH;
        size_t unused = sizeof(float) * (size_t)(padded - count) * KV_WIDTH;
        int turning = layers[layer].turning;
        const void *rotated[4] = {x, cosines[turning], sines[turning], project_bound[layer]};
        const void *straight[2] = {x, project_bound[layer]};
        void *projected[3] = {q, new_k, new_v};
        const struct stage *project = &project_stages[layer], *finish = &finish_stages[layer];
        (padded == 1 ? project->one : project->many)(PAIRS > 0 ? rotated : straight, projected);
        memset(new_k + (size_t)count * KV_WIDTH, 0, unused);
        memset(new_v + (size_t)count * KV_WIDTH, 0, unused);
        const void *looked[5] = {q, k, v, masks[layers[layer].window > 0], NULL};
        void *found[1] = {mixed};
        (padded == 1 ? attention[choice].one : attention[choice].many)(looked, found);
        const void *behind[3] = {x, mixed, finish_bound[layer]};
        void *finished[1] = {y};
        (padded == 1 ? finish->one : finish->many)(behind, finished);
        memcpy(x, y, sizeof x);
    }
}

/* The logits behind row `row` of `x`. */
static void head(int row)
{
    const void *inputs[2] = {x + row * WIDTH, head_bound};
    void *outputs[1] = {logits};
    head_stage.one(inputs, outputs);
}

static uint32_t largest(void)
{
    uint32_t best = 0;
    float most = 0.0f;
    int has_one = 0;
    for (uint32_t token = 0; token < VOCAB; ++token) {
        if (logits[token] == logits[token] && (!has_one || logits[token] > most)) {
            best = token;
            most = logits[token];
            has_one = 1;
        }
    }
    return best;
}

static int usage(const char *program)
{
    fprintf(stderr,
        "usage: %s TOKENS COUNT (FILE... | --seed=SEED) [--logits=OUT]\n"
        "Goes on from TOKENS, such as 1,2,3, with COUNT tokens, each the most likely one.\n"
        "FILE...: %d weight file(s); --seed: made-up weights; --logits: the f32 bits that tokens came from.\n",
        program, FILES);
    return 2;
}

int main(int count, char **words)
{
    static uint32_t tokens[CAPACITY + 1];
    int length = 0, opened = 0;
    FILE *out = NULL;
    if (count < 4) {
        return usage(words[0]);
    }
    if (MIND_LACKS_CPU) {
        fprintf(stderr, "error: this processor lacks AVX2 or FMA; compile with -DMIND_ANY_CPU\n");
        return 1;
    }
    for (const char *at = words[1]; *at != '\0';) {
        char *end;
        unsigned long long token = strtoull(at, &end, 10);
        if (*at < '0' || *at > '9' || token >= VOCAB || length >= CAPACITY || (*end != ',' && *end != '\0')) {
            fprintf(stderr, "error: TOKENS must be at most %d numbers below %d, found `%s`\n", CAPACITY, VOCAB, at);
            return 1;
        }
        tokens[length++] = (uint32_t)token;
        at = *end == ',' ? end + 1 : end;
    }
    long wanted = strtol(words[2], NULL, 10);
    if (length == 0 || wanted < 1 || wanted > CAPACITY + 1 - length) {
        fprintf(stderr, "error: %d tokens and COUNT more do not fit a cache for %d\n", length, CAPACITY);
        return 1;
    }
    for (int at = 3; at < count; ++at) {
        if (strncmp(words[at], "--seed=", 7) == 0) {
            has_seed = 1;
            seed = strtoull(words[at] + 7, NULL, 10);
        } else if (strncmp(words[at], "--logits=", 9) == 0) {
            out = fopen(words[at] + 9, "wb");
            if (out == NULL) {
                fprintf(stderr, "error: %s cannot be written\n", words[at] + 9);
                return 1;
            }
        } else if (opened < FILES && words[at][0] != '-') {
            files[opened] = fopen(words[at], "rb");
            if (files[opened++] == NULL) {
                fprintf(stderr, "error: %s cannot be read\n", words[at]);
                return 1;
            }
        } else {
            return usage(words[0]);
        }
    }
    if (!has_seed && opened != FILES) {
        return usage(words[0]);
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        project_bound[layer] = bound(&project_stages[layer]);
        finish_bound[layer] = bound(&finish_stages[layer]);
    }
    head_bound = bound(&head_stage);
    keys = room(sizeof(float) * (uint64_t)LAYERS * ROWS * KV_WIDTH);
    values = room(sizeof(float) * (uint64_t)LAYERS * ROWS * KV_WIDTH);
    clock_t started = clock();
    int rows = 0;
    for (int first = 0; first < length; first += rows) {
        rows = length - first < CHUNK ? length - first : CHUNK;
        pass(tokens + first, rows, first);
    }
    clock_t prefilled = clock();
    int status = 0;
    for (long at = 0; at < wanted; ++at) {
        head(at == 0 ? rows - 1 : 0);
        if (out != NULL && fwrite(logits, sizeof(float), VOCAB, out) != VOCAB) {
            status = 1;
        }
        uint32_t token = largest();
        printf(at + 1 == wanted ? "%u\n" : "%u,", (unsigned)token);
        if (at + 1 < wanted) {
            pass(&token, 1, length + (int)at);
        }
    }
    clock_t done = clock();
    fprintf(stderr, "prefill %.1f tokens/s, decode %.1f tokens/s\n",
        length * (double)CLOCKS_PER_SEC / ((double)(prefilled - started) + 1.0),
        (double)wanted * (double)CLOCKS_PER_SEC / ((double)(done - prefilled) + 1.0));
    for (int layer = 0; layer < LAYERS; ++layer) {
        free(project_bound[layer]);
        free(finish_bound[layer]);
    }
    free(head_bound);
    free(keys);
    free(values);
    for (int at = 0; at < opened; ++at) {
        fclose(files[at]);
    }
    if (out != NULL && fclose(out) != 0) {
        status = 1;
    }
    return status;
}
